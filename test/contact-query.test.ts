import test, { type ExecutionContext } from 'ava'
import { createProject } from './helpers/app.ts'
import { addresses, openSegments, plan } from './helpers/segments.ts'

interface Page {
	data: { id: string; email: string; subscribed: boolean }[]
	cursor?: string
	hasMore: boolean
	total: number
	isCounted: boolean
}

/** Thirty contacts, ten at each of three times: every second is pro, every third is unsubscribed. */
async function setup(t: ExecutionContext) {
	const context = await openSegments(t)
	const { app, orm, pool, projectId, withSecretKey: headers } = context
	const other = await createProject(orm)
	await pool.query(
		`insert into contacts (project_id, email, subscribed, data, created_at)
		select p.id, 'p' || lpad((i * 7 % 30)::text, 2, '0') || '@example.com', i % 3 > 0,
			jsonb_build_object('plan', (array['pro', 'free'])[1 + i % 2]),
			timestamptz '2026-01-01T00:00:00.123Z' + i / 10 * interval '1 day'
		from generate_series(0, 29) i, projects p`,
	)
	const ask = (payload: object) =>
		app.inject({ method: 'POST', url: '/contacts/query', headers, payload })
	const query = async (body: object) => (await ask(body)).json<Page>()
	/** All pages, one after the other. */
	async function walk(body: object) {
		const pages: Page[] = []
		for (let cursor: string | undefined; ;) {
			const page = await query({ ...body, ...(cursor ? { cursor } : {}) })
			pages.push(page)
			cursor = page.cursor
			t.is(cursor !== undefined, page.hasMore)
			if (!page.hasMore) return pages
		}
	}
	return { ...context, other, ask, query, walk, projectId }
}

/** Many contacts, of which the oldest ones are pro. */
const many = (count: number, pro: number) =>
	`insert into contacts (project_id, email, subscribed, data, created_at)
	select id, 'm' || i || '@example.com', true, jsonb_build_object('plan', case when i < ${pro} then 'pro' end),
		timestamptz '2026-01-01' + i * interval '1 second'
	from projects, generate_series(0, ${count} - 1) i`

test('in every order, the pages are all contacts that match, without gaps or repeats', async (t) => {
	const { walk } = await setup(t)
	for (const sort of ['createdAt', 'email'])
		for (const dir of ['asc', 'desc']) {
			const order = { sort, dir, condition: plan('pro') }
			const whole = await walk({ ...order, limit: 100 })
			t.like(whole, [{ total: 15, isCounted: true }])
			const pages = await walk({ ...order, limit: 4 })
			t.deepEqual(pages.flatMap(addresses), addresses(whole[0]!))
			t.deepEqual(
				pages.map(({ total, isCounted }) => [total, isCounted]),
				[[15, true], ...Array.from({ length: 3 }, () => [0, false])],
			)
		}
})

test('a condition, a segment, a search and a subscription narrow the list together', async (t) => {
	const { call, query } = await setup(t)
	const emails = ['p00@example.com', 'p14@example.com', 'p07@example.com', 'p16@example.com']
	const { id } = (await call('POST', '', { name: 'Some', type: 'STATIC' })).json()
	await call('POST', `/${id}/members`, { emails })
	const order = { sort: 'email', dir: 'asc' }
	const some = { ...order, segmentId: id }
	t.deepEqual(addresses(await query(some)), emails.toSorted())
	const pros = { ...some, condition: plan('pro') }
	t.deepEqual(addresses(await query(pros)), [
		'p00@example.com',
		'p14@example.com',
		'p16@example.com',
	])
	t.deepEqual(addresses(await query({ ...pros, subscribed: true })), [
		'p14@example.com',
		'p16@example.com',
	])
	t.deepEqual(addresses(await query({ ...pros, search: 'P1' })), [
		'p14@example.com',
		'p16@example.com',
	])
	const free = { ...order, condition: plan('free'), search: 'p1', subscribed: false }
	t.like(await query(free), { total: (await query({ ...free, limit: 1 })).total })
})

test('without a condition it is the list of contacts', async (t) => {
	const { app, query, withSecretKey: headers } = await setup(t)
	const list = (await app.inject({ url: '/contacts?limit=7&subscribed=true', headers })).json()
	t.deepEqual(await query({ limit: 7, subscribed: true }), { ...list, isCounted: true })
})

test('the few contacts that match are found however many others are newer', async (t) => {
	const { pool, query, walk } = await setup(t)
	await pool.query('delete from contacts')
	await pool.query(many(60_000, 3))
	const old = ['m2@example.com', 'm1@example.com', 'm0@example.com']
	const page = await query({ condition: plan('pro') })
	t.deepEqual(addresses(page), old)
	t.like(page, { hasMore: false, total: 3, isCounted: true })
	t.deepEqual((await walk({ condition: plan('pro'), limit: 2 })).flatMap(addresses), old)
})

test('a page comes without a count if none is wanted and counting takes time', async (t) => {
	const { query, pool } = await setup(t)
	t.like(await query({ condition: plan('pro'), count: false }), { total: 0, isCounted: false })
	await pool.query(many(1001, 0))
	t.like(await query({ search: 'example' }), { total: 1001 + 30, isCounted: true })
	const page = await query({ search: 'example', count: false })
	t.like(page, { total: 0, isCounted: false, hasMore: true })
	// These numbers are known, or found with the page.
	t.like(await query({ count: false }), { total: 1001 + 30, isCounted: true })
	t.like(await query({ search: 'p01', count: false }), { total: 1, isCounted: true })
})

test('a wrong condition, segment, member or cursor is refused by its path', async (t) => {
	const { ask, call, query, other, app } = await setup(t)
	const wrong = await ask({ condition: { logic: 'AND', groups: [{ filters: [{ field: 'x' }] }] } })
	t.is(wrong.statusCode, 422)
	t.is(wrong.json().error.errors[0].field, 'condition.groups.0.filters.0.field')
	const { id } = (await call('POST', '', { name: 'Some', type: 'STATIC' })).json()
	const asOther = (payload: object) =>
		app.inject({ method: 'POST', url: '/contacts/query', headers: other.withSecretKey, payload })
	t.is((await asOther({ segmentId: id })).statusCode, 404)
	const filters = [{ field: `segment.${id}`, operator: 'memberOfSegment' }]
	const foreign = await asOther({ condition: { logic: 'AND', groups: [{ filters }] } })
	t.is(foreign.statusCode, 422)
	t.is(foreign.json().error.errors[0].field, 'condition.groups.0.filters.0.field')
	t.like((await ask({ conditions: plan('pro') })).json().error.errors[0], {
		field: 'conditions',
		code: 'unrecognized_keys',
	})
	const { cursor } = await query({ condition: plan('pro'), limit: 1 })
	t.is((await ask({ condition: plan('pro'), sort: 'email', cursor })).statusCode, 400)
})
