import test from 'ava'
import { Type } from '@fastify/type-provider-typebox'
import { ApiError } from '../api/errors.ts'
import { claimLost } from '../api/requests/idempotency.ts'
import { claimKey, completeClaim } from '../db/idempotency-key.ts'
import { createProject, setup } from './helpers/app.ts'

type Behave = () => Promise<unknown>

/** Two routes that do their work and complete their claim in one transaction. */
async function setupKeyed(t: Parameters<typeof setup>[0]) {
	const all = await setup(t)
	const { app, pool, withSecretKey } = all
	let behave: Behave = async () => {}
	let worked = 0
	const schema = { body: Type.Object({ text: Type.Optional(Type.String()) }) }
	for (const url of ['/v1/probe', '/v1/other'])
		app.post(url, { schema, config: { auth: 'secret key', idempotent: true } }, async (request) => {
			await behave()
			const answer = { success: true, data: { worked: worked + 1 } }
			if (request.idempotency) {
				const { key, claimId } = request.idempotency
				const [completed] = await completeClaim(pool, {
					projectId: request.project.id,
					key,
					claimId,
					statusCode: 200,
					response: answer,
				})
				if (!completed) throw claimLost(request)
			}
			worked++
			return answer
		})
	app.post(
		'/v1/public',
		{ schema, config: { auth: 'public key', idempotent: true } },
		async () => 'unreached',
	)
	const post = (key: string | undefined, payload: object = {}, url = '/v1/probe') =>
		app.inject({
			method: 'POST',
			url,
			payload,
			headers: { ...withSecretKey, ...(key === undefined ? {} : { 'idempotency-key': key }) },
		})
	return {
		...all,
		post,
		whenWorking: (next: Behave) => void (behave = next),
		worked: () => worked,
		age: (seconds: number) =>
			pool.query(`update idempotency_keys set claimed_at = claimed_at - $1 * interval '1 second'`, [
				seconds,
			]),
	}
}

test('the same key a second time is 409 with the first answer, and nothing is done', async (t) => {
	const { post, worked } = await setupKeyed(t)
	const first = await post('order-1')
	t.is(first.statusCode, 200)
	const second = await post('order-1', { text: 'another body' })
	t.is(second.statusCode, 409)
	const { error } = second.json()
	t.is(error.code, 'IDEMPOTENCY_KEY_REUSED')
	t.like(error.details, {
		key: 'order-1',
		originalRequest: 'POST /v1/probe',
		originalStatusCode: 200,
		response: first.json(),
	})
	t.regex(error.details.originalRequestAt, /^\d{4}-\d\d-\d\dT[\d:]{8}(\.\d{1,3})?Z$/)
	t.true(Math.abs(Date.parse(error.details.originalRequestAt) - Date.now()) < 60_000)
	t.is(worked(), 1)
})

test('of many simultaneous requests one is performed, and the others learn that it is under way', async (t) => {
	const { post, worked, whenWorking } = await setupKeyed(t)
	const others = Promise.withResolvers<void>()
	whenWorking(() => others.promise)
	let refused = 0
	const responses = await Promise.all(
		Array.from({ length: 8 }, async () => {
			const response = await post('at-once')
			if (response.statusCode === 409 && ++refused === 7) others.resolve()
			return response
		}),
	)
	t.is(worked(), 1)
	for (const response of responses.filter(({ statusCode }) => statusCode !== 200)) {
		const { details } = response.json().error
		t.is(response.statusCode, 409)
		t.is(details.originalStatusCode, undefined)
		t.is(details.response, undefined)
	}
})

test('a refused request gives the key back before its answer leaves', async (t) => {
	const { post, worked } = await setupKeyed(t)
	t.is((await post('corrected', { text: 5 })).statusCode, 422)
	t.is((await post('corrected', { text: 'five' })).statusCode, 200)
	t.is(worked(), 1)
})

test('malformed JSON claims nothing', async (t) => {
	const { app, pool, withSecretKey } = await setupKeyed(t)
	const response = await app.inject({
		method: 'POST',
		url: '/v1/probe',
		headers: { ...withSecretKey, 'idempotency-key': 'k', 'content-type': 'application/json' },
		payload: '{',
	})
	t.is(response.statusCode, 400)
	t.is((await pool.query('select from idempotency_keys')).rowCount, 0)
})

test('a fault keeps the key, and the retry learns of the fault', async (t) => {
	const { post, whenWorking } = await setupKeyed(t)
	whenWorking(async () => {
		throw new Error('broken')
	})
	t.is((await post('faulty')).statusCode, 500)
	const { details } = (await post('faulty')).json().error
	t.is(details.originalStatusCode, 500)
	t.is(details.response, undefined)
})

test('a fault after the commit does not hide that the work was done', async (t) => {
	const { post, pool, project, whenWorking } = await setupKeyed(t)
	whenWorking(async () => {
		// The commit succeeded, but its confirmation was lost.
		await pool.query(
			`update idempotency_keys set status_code = 200, response = '{"done":true}' where project_id = $1`,
			[project.id],
		)
		throw Object.assign(new Error('Connection terminated unexpectedly'))
	})
	t.is((await post('in-doubt')).statusCode, 503)
	const { details } = (await post('in-doubt')).json().error
	t.is(details.originalStatusCode, 200)
	t.deepEqual(details.response, { done: true })
})

test('work that outlives its own 5xx cannot commit any more', async (t) => {
	const { post, pool, project, whenWorking } = await setupKeyed(t)
	let claimId = ''
	whenWorking(async () => {
		const { rows } = await pool.query('select claim_id from idempotency_keys')
		claimId = rows[0].claim_id
		throw new Error('gave up waiting')
	})
	t.is((await post('late')).statusCode, 500)
	const late = { projectId: project.id, key: 'late', claimId, statusCode: 200, response: null }
	t.deepEqual(await completeClaim(pool, late), [])
})

test('a claim abandoned within the last minute is waited for, an older one is taken over', async (t) => {
	const { post, pool, project, age, worked } = await setupKeyed(t)
	await claimKey(pool, { projectId: project.id, key: 'dead', request: 'POST /v1/probe', hours: 24 })
	await age(5)
	t.is((await post('dead')).statusCode, 409)
	await age(60)
	t.is((await post('dead')).statusCode, 200)
	t.is(worked(), 1)
})

test('a claim with an outcome is never taken over, however old', async (t) => {
	const { post, age } = await setupKeyed(t)
	await post('settled')
	await age(3600)
	t.is((await post('settled')).statusCode, 409)
})

test('a claim with an open transaction is waited for, not taken over', async (t) => {
	const { post, pool, project, age, worked } = await setupKeyed(t)
	const [claimed] = await claimKey(pool, {
		projectId: project.id,
		key: 'slow',
		request: 'POST /v1/probe',
		hours: 24,
	})
	await age(100)
	const slow = await pool.connect()
	await slow.query('begin')
	await completeClaim(slow, {
		projectId: project.id,
		key: 'slow',
		claimId: claimed!.claimId,
		statusCode: 200,
		response: { slow: true },
	})
	const retry = post('slow')
	const isWaiting = `select from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`
	while ((await pool.query(isWaiting)).rowCount === 0);
	await slow.query('commit')
	slow.release()
	const response = await retry
	t.is(response.statusCode, 409)
	t.deepEqual(response.json().error.details.response, { slow: true })
	t.is(worked(), 0)
})

test('a request whose claim was taken over does nothing', async (t) => {
	const { post, pool, project, age, worked, whenWorking } = await setupKeyed(t)
	whenWorking(async () => {
		await age(61)
		await claimKey(pool, {
			projectId: project.id,
			key: 'lost',
			request: 'POST /v1/probe',
			hours: 24,
		})
	})
	const response = await post('lost')
	t.is(response.statusCode, 409)
	t.is(response.json().error.code, 'IDEMPOTENCY_KEY_REUSED')
	t.is(worked(), 0)
	// It also doesn't release a claim that it has lost.
	t.is((await pool.query('select from idempotency_keys')).rowCount, 1)
})

test('an expired key is new again at once', async (t) => {
	const { post, pool, worked } = await setupKeyed(t)
	await post('daily')
	await pool.query(`update idempotency_keys set expires_at = now()`)
	t.is((await post('daily')).statusCode, 200)
	t.is(worked(), 2)
	const { rows } = await pool.query(
		`select extract(epoch from expires_at - claimed_at)::int as seconds from idempotency_keys`,
	)
	t.is(rows[0].seconds, 24 * 3600)
})

test('a key serves all routes of a project, and no other project', async (t) => {
	const { app, orm, post } = await setupKeyed(t)
	await post('shared')
	const other = await post('shared', {}, '/v1/other')
	t.is(other.statusCode, 409)
	t.is(other.json().error.details.originalRequest, 'POST /v1/probe')
	const { withSecretKey } = await createProject(orm)
	const headers = { ...withSecretKey, 'idempotency-key': 'shared' }
	const response = await app.inject({ method: 'POST', url: '/v1/probe', headers, payload: {} })
	t.is(response.statusCode, 200)
})

test('the public and the secret API key have separate idempotency keys', async (t) => {
	const { app, post, withPublicKey, worked } = await setupKeyed(t)
	const headers = { ...withPublicKey, 'idempotency-key': 'guessed' }
	const postPublic = () => app.inject({ method: 'POST', url: '/v1/public', headers, payload: {} })
	t.is((await postPublic()).statusCode, 200)
	t.is((await post('guessed')).statusCode, 200)
	t.is(worked(), 1)
	const again = (await postPublic()).json().error
	t.like(again.details, { key: 'guessed', originalRequest: 'POST /v1/public' })
	t.is(again.details.response, undefined)
})

test('a key must be 1 to 255 printable ASCII characters', async (t) => {
	const { post, worked } = await setupKeyed(t)
	for (const key of ['', 'x'.repeat(256), 'schlüssel', 'tab\tbed', 'del\x7f']) {
		const response = await post(key)
		t.is(response.statusCode, 400, JSON.stringify(key))
		t.is(response.json().error.code, 'BAD_REQUEST')
	}
	t.is(worked(), 0)
	for (const key of ['x'.repeat(255), ' ~!', '0']) t.is((await post(key)).statusCode, 200)
})

test('without a key every request counts', async (t) => {
	const { post, pool, worked } = await setupKeyed(t)
	await post(undefined)
	await post(undefined)
	t.is(worked(), 2)
	t.is((await pool.query('select from idempotency_keys')).rowCount, 0)
})

test('a database that cannot record the outcome neither delays nor fails the answer', async (t) => {
	const { post, pool, whenWorking } = await setupKeyed(t)
	whenWorking(async () => {
		await pool.query('alter table idempotency_keys rename to away')
		throw new Error('broken')
	})
	const response = await post('unnoted')
	t.is(response.statusCode, 500)
	t.is(response.json().error.code, 'INTERNAL_SERVER_ERROR')
})

test('a caller that hangs up early leaves the key as if it had waited', async (t) => {
	const { app, pool, post, withSecretKey, whenWorking } = await setupKeyed(t)
	const entered = Promise.withResolvers<void>()
	const gone = Promise.withResolvers<void>()
	whenWorking(async () => {
		entered.resolve()
		await gone.promise
		throw new ApiError(400, 'BAD_REQUEST', 'refused after all')
	})
	await app.listen({ port: 0 })
	const { port } = app.server.address() as { port: number }
	const hangUp = new AbortController()
	const disconnected = new Promise((resolve) => {
		app.server.once('connection', (socket) => socket.once('close', resolve))
	})
	const call = fetch(`http://127.0.0.1:${port}/v1/probe`, {
		method: 'POST',
		headers: { ...withSecretKey, 'idempotency-key': 'left', 'content-type': 'application/json' },
		body: '{}',
		signal: hangUp.signal,
	})
	await entered.promise
	hangUp.abort()
	await t.throwsAsync(call)
	await disconnected
	gone.resolve()
	while ((await pool.query('select from idempotency_keys')).rowCount !== 0);
	whenWorking(async () => {})
	t.is((await post('left')).statusCode, 200)
})
