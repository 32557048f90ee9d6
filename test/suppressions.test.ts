import type { ExecutionContext } from 'ava'
import test from 'ava'
import { encodeCursor } from '../api/schemas.ts'
import { Suppression } from '../db/reputation/suppression.ts'
import { createProject, setup } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'

async function setupSuppressions(t: ExecutionContext) {
	const all = await setup(t)
	const { app, orm, project, withSecretKey: headers } = all
	return {
		...all,
		list: async (query = '') => {
			const response = await app.inject({ url: `/suppressions?${query}`, headers })
			t.is(response.statusCode, 200, response.body)
			return response.json()
		},
		refused: async (query: string) => app.inject({ url: `/suppressions?${query}`, headers }),
		post: (payload: object) =>
			app.inject({ method: 'POST', url: '/suppressions', headers, payload }),
		remove: (email: string) =>
			app.inject({ method: 'DELETE', url: `/suppressions/${email}`, headers }),
		add: (...rows: Partial<Suppression>[]) =>
			orm.em.fork().insertMany(
				Suppression,
				rows.map((row) => ({ projectId: project.id, reason: 'BOUNCE' as const, ...row })),
			),
	}
}

const emailsOf = ({ data }: { data: { email: string }[] }) => data.map(({ email }) => email)

test('an address is listed in its normalised spelling, and removed again', async (t) => {
	const { post, list, remove } = await setupSuppressions(t)
	const response = await post({ email: ' Ann@Example.org ' })
	t.is(response.statusCode, 201)
	const { createdAt, ...entry } = response.json()
	t.is(new Date(createdAt).toISOString(), createdAt)
	t.deepEqual(entry, { email: 'ann@example.org', reason: 'MANUAL', emailId: null })
	t.deepEqual(await list(), { data: [response.json()], hasMore: false, total: 1 })
	const removed = await remove('ANN%40example.org')
	t.is(removed.statusCode, 204)
	t.is(removed.body, '')
	const again = await remove('ann@example.org')
	const { details } = isEnvelope(t, again, 404, 'RESOURCE_NOT_FOUND')
	t.deepEqual(details, { resource: 'suppression', id: 'ann@example.org' })
})

test('an address that is on the list stays there as it came', async (t) => {
	const { post, add, list } = await setupSuppressions(t)
	await add({ email: 'ann@example.org', reason: 'COMPLAINT' })
	const response = await post({ email: 'ann@example.org', reason: 'MANUAL' })
	t.is(response.statusCode, 200)
	t.is(response.json().reason, 'COMPLAINT')
	t.is((await list()).total, 1)
})

test('of simultaneous requests for one address a single one adds it', async (t) => {
	const { post } = await setupSuppressions(t)
	const answers = await Promise.all(
		Array.from({ length: 10 }, () => post({ email: 'ann@example.org' })),
	)
	const statuses = answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)
	t.deepEqual(statuses, [...Array.from({ length: 9 }, () => 200), 201])
})

test('an invalid address or reason is refused', async (t) => {
	const { post } = await setupSuppressions(t)
	const body = { email: 'nobody', reason: 'WHIM' }
	const { errors } = isEnvelope(t, await post(body), 422, 'VALIDATION_ERROR')
	t.deepEqual(
		errors.map(({ field, code }: Record<string, string>) => `${field}: ${code}`),
		['email: invalid_string', 'reason: invalid_enum_value'],
	)
	isEnvelope(t, await post({}), 422, 'VALIDATION_ERROR')
})

test('pages go from the newest to the oldest, and miss none of the same moment', async (t) => {
	const { add, list } = await setupSuppressions(t)
	const createdAt = new Date('2026-03-01T00:00:00.123Z')
	await add({ email: 'new@example.org', createdAt: new Date('2026-04-01') })
	await add(...['a', 'b', 'c'].map((name) => ({ email: `${name}@example.org`, createdAt })))
	await add({ email: 'old@example.org', createdAt: new Date('2026-02-01') })
	const seen: string[] = []
	let page = await list('limit=2')
	t.is(page.total, 5)
	seen.push(...emailsOf(page))
	while (page.hasMore) {
		page = await list(`limit=2&cursor=${page.cursor}`)
		t.is(page.total, 0)
		seen.push(...emailsOf(page))
	}
	t.false('cursor' in page)
	t.deepEqual(
		seen,
		['new', 'c', 'b', 'a', 'old'].map((name) => `${name}@example.org`),
	)
	t.is((await list('limit=1000')).data.length, 5)
})

test('search finds a literal part of the address, and reason filters by reason', async (t) => {
	const { add, list } = await setupSuppressions(t)
	await add(
		{ email: 'a_b@example.org', reason: 'MANUAL' },
		{ email: 'axb@example.org', reason: 'UNSUBSCRIBED_ALL' },
		{ email: '100%@shop.org' },
	)
	t.deepEqual(emailsOf(await list('search=A_B')), ['a_b@example.org'])
	t.deepEqual(emailsOf(await list('search=%25')), ['100%@shop.org'])
	t.is((await list('search=example')).total, 2)
	t.is((await list('search=')).total, 3)
	t.deepEqual(emailsOf(await list('reason=BOUNCE')), ['100%@shop.org'])
	t.deepEqual(emailsOf(await list('reason=BOUNCE&search=example')), [])
})

test('a bad query is a 400', async (t) => {
	const { refused } = await setupSuppressions(t)
	for (const query of ['reason=WHIM', 'limit=0', 'limit=x', 'cursor=x', 'cursor=W10'])
		isEnvelope(t, await refused(query), 400, 'BAD_REQUEST')
})

test('an impossible cursor is a 400, with any content', async (t) => {
	const { refused } = await setupSuppressions(t)
	const time = Date.UTC(2026, 0, 1)
	t.is((await refused(`cursor=${encodeCursor([time, 'ann@example.org'])}`)).statusCode, 200)
	for (const position of [
		['0000-01-01T00:00:00Z', 'a'],
		[-1, 'a'],
		[1e300, 'a'],
		[1.5, 'a'],
		[time, '\0'],
		[time, '\ud800'],
		[time, ''],
		[time, 'a'.repeat(255)],
		[time, 'a', 'more'],
	]) {
		const answer = await refused(`cursor=${encodeCursor(position)}`)
		const { errors } = isEnvelope(t, answer, 400, 'BAD_REQUEST')
		t.is(errors[0].field, 'cursor', JSON.stringify(position))
	}
})

test('no project sees or removes the addresses of another', async (t) => {
	const { add, list, orm, post, remove } = await setupSuppressions(t)
	const other = await createProject(orm)
	await add({ email: 'ann@example.org', projectId: other.project.id })
	t.is((await list()).total, 0)
	isEnvelope(t, await remove('ann@example.org'), 404, 'RESOURCE_NOT_FOUND')
	t.is((await post({ email: 'ann@example.org' })).statusCode, 201)
	t.is(await orm.em.fork().count(Suppression), 2)
})

test('a search that takes too long is refused, and frees its connection', async (t) => {
	const { pool, refused } = await setupSuppressions(t)
	const slow = await pool.connect()
	t.teardown(() => slow.release())
	// A statement that waits counts as one that is slow.
	await slow.query('begin; lock table suppressions in access exclusive mode')
	const answer = await refused('search=example')
	isEnvelope(t, answer, 503, 'DATABASE_ERROR')
	t.is(answer.headers['retry-after'], '5')
	await slow.query('rollback')
	t.is((await refused('search=example')).statusCode, 200)
})
