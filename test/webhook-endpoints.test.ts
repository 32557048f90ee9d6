import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { Webhook } from 'standardwebhooks'
import { createProject } from './helpers/app.ts'
import { answering, isSignedBy } from './helpers/webhook-receiver.ts'
import { type EndpointJson, setupWebhooks } from './helpers/webhooks.ts'

test('an endpoint is created with a secret that is shown once, and stored encrypted', async (t) => {
	const { endpoint, ask, pool, receiver } = await setupWebhooks(t)
	const created = await endpoint(['email.bounced', 'contact.*'], { description: 'Ours' })
	t.regex(created.secret, /^whsec_[A-Za-z0-9+/]{32}$/)
	t.like(created, {
		url: receiver.url,
		events: ['email.bounced', 'contact.*'],
		description: 'Ours',
		ordering: 'none',
		enabled: true,
		health: { state: 'new', waiting: 0, lastSuccessAt: null },
	})
	const { secret, ...shown } = created
	t.deepEqual(await ask('GET', `/webhook-endpoints/${created.id}`), shown)
	t.deepEqual(await ask('GET', '/webhook-endpoints'), [shown])
	const { rows } = await pool.query<{ all: string }>(
		'select webhook_endpoints::text as all from webhook_endpoints',
	)
	t.false(rows[0]!.all.includes(Buffer.from(secret).toString('hex')))
})

test('a bad address or type of event is refused by name', async (t) => {
	const { app, withSecretKey: headers } = await setupWebhooks(t)
	const post = async (payload: object) => {
		const response = await app.inject({
			method: 'POST',
			url: '/webhook-endpoints',
			headers,
			payload,
		})
		t.is(response.statusCode, 422, JSON.stringify(payload))
		return response.json().error.errors.map(({ field }: { field: string }) => field)
	}
	const url = 'https://example.com/hook'
	t.deepEqual(await post({ url, events: ['email.sent', 'email.nothing'] }), ['events.1'])
	t.deepEqual(await post({ url, events: ['mail.*', 'event.'] }), ['events.0', 'events.1'])
	t.deepEqual(await post({ url, events: [] }), ['events'])
	t.deepEqual(await post({ url: 'ftp://example.com', events: ['*'] }), ['url'])
	t.deepEqual(await post({ url: 'https://me:secret@example.com', events: ['*'] }), ['url'])
	t.deepEqual(await post({ url, events: ['*'], ordering: 'all' }), ['ordering'])
})

test('an address in a private network is refused unless that is allowed', async (t) => {
	const { orm, withSecretKey: headers } = await setupWebhooks(t)
	const { startApp } = await import('./helpers/app.ts')
	const { app } = await startApp(t, orm)
	for (const url of [
		'http://127.0.0.1/',
		'http://[::1]/',
		'http://localhost:80/',
		'http://10.1.1.1/',
	])
		t.is(
			(
				await app.inject({
					method: 'POST',
					url: '/webhook-endpoints',
					headers,
					payload: { url, events: ['*'] },
				})
			).statusCode,
			422,
			url,
		)
})

test('an endpoint of another project is not found by any route', async (t) => {
	const { app, endpoint, orm, track, pool } = await setupWebhooks(t)
	const { id } = await endpoint(['*'])
	await track('signup')
	const { rows } = await pool.query<{ id: string }>('select id from webhook_deliveries limit 1')
	const { withSecretKey: headers } = await createProject(orm)
	const period = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }
	const routes: [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object][] = [
		['GET', `/webhook-endpoints/${id}`],
		['PATCH', `/webhook-endpoints/${id}`, { enabled: false }],
		['DELETE', `/webhook-endpoints/${id}`],
		['POST', `/webhook-endpoints/${id}/rotate-secret`],
		['POST', `/webhook-endpoints/${id}/test`, {}],
		['GET', `/webhook-endpoints/${id}/deliveries`],
		['POST', `/webhook-endpoints/${id}/replay`, period],
		['GET', `/webhook-deliveries/${rows[0]!.id}`],
		['POST', `/webhook-deliveries/${rows[0]!.id}/retry`],
	]
	for (const [method, url, payload] of routes) {
		const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
		t.is(response.statusCode, 404, `${method} ${url}`)
	}
})

test('a project has at most twenty endpoints', async (t) => {
	const { endpoint, ask, receiver } = await setupWebhooks(t)
	for (let i = 0; i < 20; i++) await endpoint(['*'])
	await ask('POST', '/webhook-endpoints', { url: receiver.url, events: ['*'] }, 409)
})

test('after rotations the secrets before sign along for a day', async (t) => {
	const { endpoint, ask, track, turn, receiver, pool } = await setupWebhooks(t)
	const { id, secret: old } = await endpoint(['event.*'])
	const rotated = async () =>
		(await ask<EndpointJson>('POST', `/webhook-endpoints/${id}/rotate-secret`)).secret!
	const between = await rotated()
	const secret = await rotated()
	t.is(new Set([old, between, secret]).size, 3)
	const verifies = (key: string) => isSignedBy(key, receiver.heard.at(-1)!)
	await track('one')
	await turn(id)
	t.deepEqual([secret, between, old].map(verifies), [true, true, true])
	await pool.query(`update webhook_endpoints set rotated_at = now() - interval '25 hours'`)
	await track('two')
	await turn(id)
	t.deepEqual([secret, between, old].map(verifies), [true, false, false])
	const next = await rotated()
	await track('three')
	await turn(id)
	t.deepEqual([next, secret, between, old].map(verifies), [true, true, false, false])
})

test('a test delivers a sample now and returns what the endpoint said', async (t) => {
	const { endpoint, ask, receiver } = await setupWebhooks(t)
	const { id, secret } = await endpoint(['email.bounced'])
	receiver.answer = answering(500, 'x'.repeat(10_000))
	const failed = await ask<{ answer: string; payload: string }>(
		'POST',
		`/webhook-endpoints/${id}/test`,
		{ type: 'email.bounced' },
	)
	t.like(failed, { success: false, status: 500, error: null })
	t.is(failed.answer, 'x'.repeat(4096))
	t.is(receiver.heard[0]!.type, 'email.bounced')
	t.is(failed.payload, receiver.heard[0]!.body)
	new Webhook(secret).verify(
		receiver.heard[0]!.body,
		receiver.heard[0]!.headers as Record<string, string>,
	)
	receiver.answer = answering(204)
	t.like(await ask('POST', `/webhook-endpoints/${id}/test`, { type: 'event.signup' }), {
		success: true,
		status: 204,
	})
	t.like(receiver.heard[1], { type: 'event.signup', data: { name: 'signup' } })
	await ask('POST', `/webhook-endpoints/${id}/test`, { type: 'email.*' }, 422)
	t.like(await ask('GET', `/webhook-endpoints/${id}/deliveries`), { data: [], total: 0 })
})

test('a project has two tests of its endpoints under way at a time; more are refused', async (t) => {
	const { endpoint, app, withSecretKey: headers, receiver } = await setupWebhooks(t)
	const { id } = await endpoint(['*'])
	const waiting: (() => void)[] = []
	receiver.answer = (response) =>
		waiting.length < 2 ? void waiting.push(() => response.end()) : void response.end()
	const once = () =>
		app.inject({ method: 'POST', url: `/webhook-endpoints/${id}/test`, headers, payload: {} })
	const under = Promise.all([once(), once()])
	while (waiting.length < 2) await setImmediate()
	const refused = await once()
	for (const answer of waiting) answer()
	t.deepEqual(
		(await under).map(({ statusCode }) => statusCode),
		[200, 200],
	)
	t.like(refused, { statusCode: 429 })
	receiver.answer = answering(200)
	t.is((await once()).statusCode, 200)
})

test('a deleted endpoint gets nothing more, and its deliveries are deleted', async (t) => {
	const { endpoint, ask, track, turn, receiver, pool } = await setupWebhooks(t)
	const { id } = await endpoint(['*'])
	await track('signup')
	await ask('DELETE', `/webhook-endpoints/${id}`, undefined, 204)
	await ask('GET', `/webhook-endpoints/${id}`, undefined, 404)
	t.deepEqual(await ask('GET', '/webhook-endpoints'), [])
	await track('again')
	t.is((await turn(id)).waitMs, null)
	t.is(receiver.heard.length, 0)
	const { rows } = await pool.query('select from webhook_deliveries')
	t.is(rows.length, 0)
})
