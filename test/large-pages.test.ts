import test, { type ExecutionContext } from 'ava'
import { once } from 'node:events'
import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError } from '../api/errors.ts'
import type { PageLimits } from '../api/requests/large-pages.ts'
import { createRoom } from '../api/requests/room.ts'
import { setup, startApp } from './helpers/app.ts'
import { freeze } from './helpers/executions.ts'
import { isEnvelope } from './helpers/envelope.ts'

const megabyte = 2 ** 20
/** One reader at a time, and one waiting. */
const narrow: PageLimits = {
	size: 4 * megabyte,
	waiting: 1,
	patienceMs: 60_000,
	smallBytes: 1000,
	batchBytes: 2 * megabyte,
}

async function setupPages(t: ExecutionContext, bodyBytes: number[], pageLimits = narrow) {
	const context = await setup(t, { services: { pageLimits } })
	const { pool, project } = context
	await pool.query(
		`insert into templates (project_id, name, subject, body, "from")
		select $1, 'Template ' || n, 'Hello "' || n || '"', repeat('é', bytes / 2), 'a@example.com'
		from unnest($2::int[]) with ordinality as b(bytes, n)`,
		[project.id, bodyBytes],
	)
	return context
}

test('a page of large bodies is written in batches, with the same content as in one piece', async (t) => {
	const sizes = [10, 3000, 0, 700, 700, 700, 4000, 2, 1500, 1500]
	const limits = { ...narrow, smallBytes: 100, batchBytes: 1500 }
	const { app, orm, pool, project, withSecretKey: headers } = await setupPages(t, sizes, limits)
	await pool.query(
		`insert into campaigns (project_id, name, subject, body, "from", audience_type)
		select project_id, name, subject, body, "from", 'ALL' from templates`,
	)
	const contacts = await pool.query<{ id: string }>(
		`insert into contacts (project_id, email, subscribed) values ($1, 'a@example.com', true) returning id`,
		[project.id],
	)
	const contact = contacts.rows[0]!.id
	await pool.query(
		`insert into events (project_id, name, contact_id, data)
		select $1, 'name ' || n % 2, case when n % 3 = 0 then $2::uuid end,
			jsonb_build_object('text', repeat('x', n * 500))
		from generate_series(1, 12) n`,
		[project.id, contact],
	)
	await pool.query(
		`insert into segments (project_id, name, type, condition)
		select $1, 'Segment ' || n, case when bytes > 0 then 'DYNAMIC' else 'STATIC' end,
			case when bytes > 0 then jsonb_build_object('logic', 'AND', 'groups', jsonb_build_array(
				jsonb_build_object('filters', jsonb_build_array(jsonb_build_object(
					'field', 'data.plan', 'operator', 'equals', 'value', repeat('é', bytes / 2)))))) end
		from unnest($2::int[]) with ordinality as b(bytes, n)`,
		[project.id, sizes],
	)
	const workflow = await freeze(pool, project.id, null, { steps: [['EXIT', {}]], reentry: true })
	await pool.query(
		`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status, context)
		select $1, $2, 1, $3, true, 'COMPLETED', jsonb_build_object('text', repeat('x', n * 500))
		from generate_series(1, 12) n`,
		[project.id, workflow, contact],
	)
	// The state after a reset.
	await pool.query('update projects set public_id = uuidv7() where id = $1', [project.id])
	const { app: other } = await startApp(t, orm)
	const queries = ['?pageSize=100', '?pageSize=4&page=2&sort=name&dir=asc', '?page=9']
	const executions = ['', '?pageSize=5&page=2&status=COMPLETED', '?page=9']
	const events = [
		'?limit=1000',
		'?limit=1000&eventName=name 1',
		'?eventName=none',
		`/contact/${contact}`,
	]
	for (const url of [
		...queries.map((query) => `/templates${query}`),
		...queries.map((query) => `/campaigns${query}`),
		...executions.map((query) => `/workflows/${workflow}/executions${query}`),
		...executions.map((query) => `/contacts/${contact}/executions${query}`),
		...events.map((query) => `/events${query}`),
		'/segments',
	]) {
		const [written, whole] = await Promise.all(
			[app, other].map((api) => api.inject({ url, headers })),
		)
		t.is(written!.statusCode, 200)
		t.is(written!.body, whole!.body, url)
		t.is(written!.headers['content-type'], whole!.headers['content-type'])
		t.false(written!.body.includes(project.id))
		const isEmpty = /"(data|events)":\[\]/.test(whole!.body)
		t.is(isEmpty, url.endsWith('page=9') || url.endsWith('none'))
		t.is(written!.headers['content-length'] === undefined, !isEmpty, url)
		const head = await app.inject({ method: 'HEAD', url, headers })
		t.is(head.statusCode, 200)
		t.is(head.body, '')
	}
	const all = (await app.inject({ url: '/templates?pageSize=100', headers })).json()
	t.like(all, { page: 1, pageSize: 100, total: sizes.length, totalPages: 1 })
	t.deepEqual(
		all.data.map(({ body }: { body: string }) => Buffer.byteLength(body)),
		sizes.toReversed(),
	)
	const segments = (await app.inject({ url: '/segments', headers })).json()
	t.deepEqual(
		segments.map(({ name }: { name: string }) => name),
		sizes.map((_, index) => `Segment ${index + 1}`).toReversed(),
	)
})

test('readers of large pages wait in line up to a limit, and small pages are unaffected', async (t) => {
	const { app, withSecretKey: headers } = await setupPages(t, [
		...Array.from({ length: 30 }, () => megabyte),
		10,
	])
	const ask = (query: string) => app.inject({ url: `/templates?${query}`, headers })
	const slow = await slowReader(t, app, headers)
	t.is((await slow.answered()).statusCode, 200)
	const asked = [ask('pageSize=100'), ask('pageSize=100')]
	const refused = await Promise.race(asked)
	isEnvelope(t, refused, 503, 'EXTERNAL_SERVICE_ERROR')
	t.is(refused.headers['retry-after'], '1')
	t.is((await ask('pageSize=1')).statusCode, 200)
	slow.request.destroy()
	const answers = await Promise.all(asked)
	const served = answers.filter(({ statusCode }) => statusCode === 200)
	t.is(served.length, 1)
	t.is(served[0]!.json().data.length, 31)
})

test('a caller that leaves while waiting takes no room', async (t) => {
	const { app, withSecretKey: headers } = await setupPages(
		t,
		Array.from({ length: 30 }, () => megabyte),
	)
	const slow = await slowReader(t, app, headers)
	await slow.answered()
	const others = [await slowReader(t, app, headers), await slowReader(t, app, headers)]
	// One of the two waits, and the other is refused.
	const refused = await Promise.race(others.map((other) => other.answered()))
	t.is(refused.statusCode, 503)
	for (const { request } of [...others, slow]) request.destroy()
	const url = '/templates?pageSize=100'
	let answer = await app.inject({ url, headers })
	for (const endsAt = Date.now() + 20_000; answer.statusCode === 503 && Date.now() < endsAt;)
		answer = await app.inject({ url, headers })
	t.is(answer.statusCode, 200)
})

/** Requests a page of everything, and reads no more of it than the connection buffers by itself. */
async function slowReader(
	t: ExecutionContext,
	app: Awaited<ReturnType<typeof setup>>['app'],
	headers: Record<string, string>,
) {
	if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
	const { port } = app.server.address() as AddressInfo
	const url = `http://127.0.0.1:${port}/templates?pageSize=100`
	const request: ClientRequest = get(url, { headers, agent: false })
	const response = once(request, 'response').then(([answer]) => answer as IncomingMessage)
	response.catch(() => {}) // the request was refused, or the client left
	request.on('error', () => {})
	t.teardown(() => request.destroy())
	return { request, answered: () => response }
}

const limits = { size: 10, waiting: 10, patienceMs: 60_000 }

/** Lets all waiting requests proceed. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('room is granted in order of request, and small requests do not overtake large ones', async (t) => {
	const take = createRoom(limits)
	const [first, second] = [await take(6), await take(4)]
	const came: string[] = []
	const large = take(9).then((giveBack) => (came.push('large'), giveBack))
	const small = take(1).then((giveBack) => (came.push('small'), giveBack))
	second()
	await settled()
	t.deepEqual(came, [])
	second()
	await settled()
	t.deepEqual(came, [], 'what is given back twice counts once')
	first()
	await Promise.all([large, small])
	t.deepEqual(came, ['large', 'small'])
})

test('a request larger than the room enters when it is empty', async (t) => {
	const take = createRoom(limits)
	const giveBack = await take(1)
	const giant = take(11)
	let hasCome = false
	const next = take(1).then(() => (hasCome = true))
	giveBack()
	const leave = await giant
	await settled()
	t.false(hasCome)
	leave()
	t.true(await next)
})

test('a request that waits too long is refused, and lets the next one in', async (t) => {
	const take = createRoom({ ...limits, patienceMs: 50 })
	await take(8)
	const large = take(10)
	const small = take(2)
	const error = await t.throwsAsync(large, { instanceOf: ApiError })
	t.like(error, { status: 503, extras: { retryAfterSeconds: 1 } })
	t.is(typeof (await small), 'function')
})
