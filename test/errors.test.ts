import test from 'ava'
import type { InjectOptions } from 'fastify'
import { connect } from 'node:net'
import { Project } from '../db/projects/project.ts'
import { transaction } from '../db/transaction.ts'
import { setup, startApp, viaProxy } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'

test('every refusal before a handler uses the common error envelope', async (t) => {
	const { app, withSecretKey } = await setup(t)
	const json = { ...withSecretKey, 'content-type': 'application/json' }
	const cases: [number, string, InjectOptions][] = [
		[404, 'RESOURCE_NOT_FOUND', { url: '/nowhere?email=a@b.c' }],
		[404, 'RESOURCE_NOT_FOUND', { method: 'DELETE', url: '/v1/send' }],
		[404, 'RESOURCE_NOT_FOUND', { method: 'OPTIONS', url: '/health' }],
		[404, 'RESOURCE_NOT_FOUND', { url: '/emails/not-a-uuid', headers: withSecretKey }],
		[404, 'RESOURCE_NOT_FOUND', { url: `/emails/${crypto.randomUUID()}`, headers: withSecretKey }],
		[400, 'BAD_REQUEST', { url: '/%zz' }],
		[400, 'BAD_REQUEST', { url: '/emails?cursor=%00', headers: withSecretKey }],
		[400, 'BAD_REQUEST', { url: '/emails?limit=many', headers: withSecretKey }],
		[400, 'BAD_REQUEST', { url: '/emails?cursor=nonsense', headers: withSecretKey }],
		[401, 'INVALID_API_KEY', { url: '/emails' }],
		[
			400,
			'VALIDATION_ERROR',
			{ method: 'POST', url: '/v1/send', headers: json, payload: '{"to":' },
		],
		[
			415,
			'BAD_REQUEST',
			{
				method: 'POST',
				url: '/v1/send',
				headers: { ...withSecretKey, 'content-type': 'text/plain' },
				payload: '{}',
			},
		],
		[
			400,
			'VALIDATION_ERROR',
			{ method: 'POST', url: '/v1/send', headers: json, payload: Buffer.from('"\xff"', 'latin1') },
		],
		[422, 'VALIDATION_ERROR', { method: 'POST', url: '/v1/send', headers: json, payload: '[]' }],
		[414, 'BAD_REQUEST', { url: `/emails/${'x'.repeat(3000)}`, headers: withSecretKey }],
		[404, 'RESOURCE_NOT_FOUND', { url: `/${'x/'.repeat(3000)}` }],
	]
	for (const [status, code, request] of cases)
		isEnvelope(t, await app.inject(request), status, code)
})

test('the refusal of a body says how to send it', async (t) => {
	const { app, withSecretKey } = await setup(t)
	const suggested = async (url: string, type: string, more = {}) => {
		const headers = { ...withSecretKey, 'content-type': type, ...more }
		const answer = await app.inject({ method: 'POST', url, headers, payload: '{}' })
		return isEnvelope(t, answer, 415, 'BAD_REQUEST').suggestion
	}
	t.regex((await suggested('/v1/send', 'text/plain'))!, /Content-Type: application\/json\./)
	t.regex((await suggested('/webhooks/bounce', 'text/plain'))!, /Content-Type: message\/rfc822\./)
	t.regex(
		(await suggested('/contacts/import', 'text/plain'))!,
		/Content-Type: multipart\/form-data\./,
	)
	const gzip = { 'content-encoding': 'gzip' }
	t.regex((await suggested('/v1/send', 'application/json', gzip))!, /without Content-Encoding/)
})

test('a body of the wrong type is named in the message', async (t) => {
	const { app, withSecretKey: headers } = await setup(t)
	const message = async (url: string, payload: object) => {
		const answer = await app.inject({ method: 'POST', url, headers, payload })
		return isEnvelope(t, answer, 422, 'VALIDATION_ERROR').message
	}
	t.is(await message('/v1/send', []), 'The body must be an object')
	t.is(await message('/v1/send/batch', {}), 'The body must be an array')
})

test('unreadable JSON is answered with the place where it breaks', async (t) => {
	const { app, withSecretKey } = await setup(t)
	const headers = { ...withSecretKey, 'content-type': 'application/json' }
	const post = async (payload: string) => {
		const answer = await app.inject({ method: 'POST', url: '/v1/send', headers, payload })
		return isEnvelope(t, answer, 400, 'VALIDATION_ERROR').details?.['reason']
	}
	t.regex(String(await post('{"to": "a@example.org",}')), /position 23/)
	t.regex(String(await post("{'to': 1}")), /position 1/)
})

test('a reserved member name is reported by its path, however it is written', async (t) => {
	const { app, withSecretKey } = await setup(t)
	const headers = { ...withSecretKey, 'content-type': 'application/json' }
	for (const [payload, field] of [
		['{"__proto__":1}', '__proto__'],
		[String.raw`{"data":{"a":[{"\u005f_proto__":{}}]}}`, 'data.a.0.__proto__'],
		['{"constructor":{"prototype":1}}', 'constructor.prototype'],
	] as const) {
		const answer = await app.inject({ method: 'POST', url: '/v1/send', headers, payload })
		const { message } = isEnvelope(t, answer, 422, 'VALIDATION_ERROR')
		t.is(message, `${field} is a reserved name and cannot be used as a member`)
	}
})

test('a body over the limit is 413, over a small or a large one', async (t) => {
	const { app, withSecretKey } = await setup(t)
	app.post('/small', { config: { auth: 'secret key' } }, async () => 'read')
	const post = (url: string, length: number) =>
		app.inject({
			method: 'POST',
			url,
			headers: { ...withSecretKey, 'content-type': 'application/json' },
			payload: JSON.stringify('x'.repeat(length)),
		})
	t.is((await post('/small', 1_000_000)).statusCode, 200)
	isEnvelope(t, await post('/small', 1_100_000), 413, 'BAD_REQUEST')
	t.is((await post('/v1/send', 10_000_000)).statusCode, 422)
})

test('a fault of ours is a 500 without any internal detail', async (t) => {
	const { app } = await setup(t)
	app.get('/fault', { config: { auth: 'none' } }, async () => {
		throw new Error('the password is hunter2')
	})
	const answer = await app.inject('/fault')
	isEnvelope(t, answer, 500, 'INTERNAL_SERVER_ERROR')
	t.false(answer.body.includes('hunter2'))
})

test('a record that is not there is its own 404, a duplicate is 409', async (t) => {
	const { app, project } = await setup(t)
	const id = crypto.randomUUID()
	app.get('/find', { config: { auth: 'none' } }, async ({ em }) =>
		em.findOneOrFail(Project, { id }),
	)
	app.get('/copy', { config: { auth: 'none' } }, async ({ em }) => {
		const { publicKey, secretKeyEnding } = project
		em.create(Project, { name: 'b', publicKey, secretKeyDigest: Buffer.of(1), secretKeyEnding })
		await em.flush()
	})
	const error = isEnvelope(t, await app.inject('/find'), 404, 'RESOURCE_NOT_FOUND')
	t.deepEqual(error.details, { resource: 'project', id })
	isEnvelope(t, await app.inject('/copy'), 409, 'CONFLICT')
})

test('while the database is away everything that needs it is 503 with Retry-After', async (t) => {
	const { orm, withSecretKey } = await setup(t)
	const { orm: distant, cut, mend } = await viaProxy(t, orm)
	const { app } = await startApp(t, distant)
	const ask = () => app.inject({ url: '/emails', headers: withSecretKey })
	t.is((await ask()).statusCode, 200)
	cut()
	const answer = await ask()
	isEnvelope(t, answer, 503, 'DATABASE_ERROR')
	t.true(Number(answer.headers['retry-after']) > 0)
	t.is((await app.inject('/config')).statusCode, 200)
	const health = await app.inject('/health')
	t.is(health.statusCode, 503)
	t.is(health.json().checks.database, 'away')
	await mend()
	t.is((await ask()).statusCode, 200)
})

test('a record that another change holds for too long is 503 with Retry-After, and the answer says why', async (t) => {
	const { app, pool, project } = await setup(t)
	app.get('/change', { config: { auth: 'none' } }, () =>
		transaction(
			pool,
			(db) => db.query('select from projects where id = $1 for update', [project.id]),
			`set local lock_timeout = 20`,
		),
	)
	const holder = await pool.connect()
	t.teardown(() => holder.release())
	await holder.query('begin')
	await holder.query('select from projects where id = $1 for update', [project.id])
	const answer = await app.inject('/change')
	const { message } = isEnvelope(t, answer, 503, 'DATABASE_ERROR')
	t.is(message, 'Another change holds this record at the moment')
	t.true(Number(answer.headers['retry-after']) > 0)
	await holder.query('rollback')
	t.is((await app.inject('/change')).statusCode, 200)
})

test('a request that is not HTTP gets the envelope too', async (t) => {
	const { app } = await setup(t)
	await app.listen({ port: 0 })
	const { port } = app.server.address() as { port: number }
	const raw = async (text: string) => {
		const socket = connect(port, '127.0.0.1')
		socket.end(text)
		const chunks: Buffer[] = []
		for await (const chunk of socket) chunks.push(chunk as Buffer)
		const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
		return {
			statusCode: Number(head.split(' ')[1]),
			headers: { 'x-request-id': /X-Request-Id: (.*)/i.exec(head)?.[1] },
			body,
		}
	}
	isEnvelope(t, await raw('NONSENSE\r\n\r\n'), 400, 'BAD_REQUEST')
	const header = `X-Long: ${'x'.repeat(20_000)}`
	isEnvelope(t, await raw(`GET / HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`), 431, 'BAD_REQUEST')
})
