import test from 'ava'
import buildSerializers from '@fastify/fast-json-stringify-compiler'
import { Type } from '@fastify/type-provider-typebox'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { buildValidator } from '../api/requests/validation.ts'
import { Project } from '../db/projects/project.ts'
import { setup, startApp } from './helpers/app.ts'
import { isEnvelope, uuid } from './helpers/envelope.ts'

test('health is degraded while Temporal or every worker is away, and answers in time', async (t) => {
	const { orm, app } = await setup(t)
	t.like((await app.inject('/health')).json(), { status: 'ok' })
	const { app: idle } = await startApp(t, orm, {
		services: { checkTemporal: async () => ({ temporal: true, worker: false }) },
	})
	const answer = await idle.inject('/health')
	t.is(answer.statusCode, 200)
	t.deepEqual(answer.json(), {
		status: 'degraded',
		checks: { database: 'ok', temporal: 'ok', worker: 'away', provider: 'ok' },
		provider: null,
	})
	const { app: deaf } = await startApp(t, orm, {
		services: { checkTemporal: () => new Promise(() => {}) },
	})
	t.like((await deaf.inject('/health')).json(), { status: 'degraded' })
})

test('requests beyond capacity are refused at once with 503', async (t) => {
	const { app, withSecretKey } = await setup(t, {
		services: { capacity: { requests: 2, bodyBytes: 3_000_000 } },
	})
	const gate = Promise.withResolvers<void>()
	const entered = Promise.withResolvers<void>()
	let inside = 0
	app.post('/wait', { config: { auth: 'none' } }, async () => {
		if (++inside === 2) entered.resolve()
		await gate.promise
		return 'done'
	})
	const post = () => app.inject({ method: 'POST', url: '/wait' })
	const waiting = [post(), post()]
	await entered.promise
	const refused = await post()
	isEnvelope(t, refused, 503, 'EXTERNAL_SERVICE_ERROR')
	t.is(refused.headers['retry-after'], '1')
	gate.resolve()
	for (const response of await Promise.all(waiting)) t.is(response.statusCode, 200)
	t.is((await post()).statusCode, 200)
	const large = { method: 'POST', url: '/v1/send', headers: withSecretKey } as const
	t.is((await app.inject({ ...large, payload: { a: 'x'.repeat(4_000_000) } })).statusCode, 503)
})

test('every answer carries security headers, and pages may show pictures and styles', async (t) => {
	const { app } = await setup(t)
	app.get('/page', { config: { auth: 'none' } }, async (_request, reply) =>
		reply.type('text/html').send('<p>'),
	)
	for (const url of ['/health', '/nowhere', '/page', '/docs']) {
		const { headers } = await app.inject({ url, remoteAddress: '127.0.0.1' })
		t.is(headers['x-content-type-options'], 'nosniff')
		t.is(headers['referrer-policy'], 'no-referrer')
		t.is(headers['x-frame-options'], 'SAMEORIGIN')
		t.regex(String(headers['x-request-id']), uuid)
		t.regex(String(headers['content-security-policy']), /default-src '(none|self)'/)
	}
	const { headers } = await app.inject('/page')
	t.regex(String(headers['content-security-policy']), /script-src 'none'; style-src 'self'/)
})

test('browsers anywhere may call /v1/track, and only our own pages the rest', async (t) => {
	const { app } = await setup(t, { settings: { publicUrl: 'https://app.example.com/base' } })
	const preflight = (url: string, origin: string) =>
		app.inject({
			method: 'OPTIONS',
			url,
			headers: {
				origin,
				'access-control-request-method': 'POST',
				'access-control-request-headers': 'authorization, content-type',
			},
		})
	const track = await preflight('/v1/track', 'https://shop.example')
	t.is(track.statusCode, 204)
	t.is(track.headers['access-control-allow-origin'], '*')
	t.regex(String(track.headers['access-control-allow-headers']), /Authorization.*Idempotency-Key/)
	t.regex(String(track.headers['access-control-allow-methods']), /POST/)
	const own = await preflight('/emails', 'https://app.example.com')
	t.is(own.headers['access-control-allow-origin'], 'https://app.example.com')
	t.is(own.headers['access-control-allow-credentials'], 'true')
	const foreign = await preflight('/emails', 'https://shop.example')
	t.is(foreign.statusCode, 204)
	t.is(foreign.headers['access-control-allow-origin'], undefined)
	const refusal = await app.inject({
		url: '/v1/track',
		headers: { origin: 'https://shop.example' },
	})
	t.is(refusal.headers['access-control-allow-origin'], '*')
	t.regex(String(refusal.headers['access-control-expose-headers']), /X-Request-Id/)
})

test('each request leaves one line in the log, without addresses, keys or bodies', async (t) => {
	const lines: string[] = []
	const { app, project, withSecretKey, secretKey } = await setup(t, {
		fastify: { logger: { level: 'info', stream: { write: (line) => void lines.push(line) } } },
	})
	await app.ready()
	await app.inject({
		method: 'POST',
		url: '/v1/send?note=anna@example.com',
		headers: withSecretKey,
		payload: { to: 'anna@example.com', subject: '' },
	})
	const line = JSON.parse(lines.at(-1)!)
	t.like(line, { method: 'POST', route: '/v1/send', status: 422, projectId: project.id })
	t.regex(line.requestId, uuid)
	t.is(typeof line.ms, 'number')
	await app.inject('/unknown/anna@example.com')
	t.like(JSON.parse(lines.at(-1)!), { route: null, status: 404 })
	t.is(lines.length, 2)
	t.false(lines.some((text) => text.includes('anna') || text.includes(secretKey)))
})

test('closing finishes requests under way, even on keep-alive connections', async (t) => {
	const { app } = await setup(t)
	const gate = Promise.withResolvers<void>()
	const entered = Promise.withResolvers<void>()
	const closing = Promise.withResolvers<void>()
	app.addHook('preClose', async () => closing.resolve())
	app.get('/slow', { config: { auth: 'none' } }, async () => {
		entered.resolve()
		await gate.promise
		return { finished: true }
	})
	await app.listen({ port: 0 })
	const { port } = app.server.address() as { port: number }
	const call = httpRequest({ port, path: '/slow', headers: { connection: 'keep-alive' } }).end()
	const answered = once(call, 'response') as Promise<[import('node:http').IncomingMessage]>
	await entered.promise
	const closed = app.close()
	await closing.promise
	gate.resolve()
	const [response] = await answered
	t.is(response.statusCode, 200)
	t.is(response.headers.connection, 'close')
	response.resume()
	await closed
	await t.throwsAsync(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
})

test('a handler finds its entity manager and its typed query', async (t) => {
	const { app, project, withSecretKey } = await setup(t)
	app.get(
		'/typed',
		{
			config: { auth: 'secret key' },
			schema: { querystring: Type.Object({ limit: Type.Integer({ default: 7 }) }) },
		},
		async (request) => {
			const { limit } = request.query
			const found = await request.em.findOneOrFail(Project, request.project.id)
			return { limit, name: found.name, isSame: request.em === request.em }
		},
	)
	const answer = await app.inject({ url: '/typed?limit=5', headers: withSecretKey })
	t.deepEqual(answer.json(), { limit: 5, name: project.name, isSame: true })
})

test('every schema of every route compiles', async (t) => {
	const compilersFactory = { buildValidator, buildSerializer: buildSerializers() }
	const { app } = await setup(t, { fastify: { schemaController: { compilersFactory } } })
	await t.notThrowsAsync(async () => app.ready())
})
