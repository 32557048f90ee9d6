import test from 'ava'
import type { ExecutionContext } from 'ava'
import { until } from '../bench/load.ts'
import { createProject, setup as setupApp } from './helpers/app.ts'

interface Page {
	data: { id: string; email: string; subscribed: boolean; createdAt: string; data: object }[]
	cursor?: string
	hasMore: boolean
	total: number
}

/** Thirty contacts, ten at each of three times; every third is unsubscribed. */
async function setup(t: ExecutionContext) {
	const context = await setupApp(t)
	const { app, orm, pool, project, withSecretKey: headers } = context
	const other = await createProject(orm)
	await pool.query(
		`insert into contacts (project_id, email, subscribed, created_at)
		select project, 'p' || lpad((i * 7 % 30)::text, 2, '0') || '@example.com', i % 3 > 0,
			timestamptz '2026-01-01T00:00:00.123Z' + i / 10 * interval '1 day'
		from generate_series(0, 29) i, unnest(array[$1, $2]::uuid[]) project`,
		[project.id, other.project.id],
	)
	const get = (query: Record<string, string | string[]> = {}) =>
		app.inject({ url: '/contacts', query, headers })
	const list = async (query?: Record<string, string | string[]>) => (await get(query)).json<Page>()
	/** All pages, one after the other. */
	async function walk(query: Record<string, string>) {
		const pages: Page[] = []
		for (let cursor: string | undefined; ;) {
			const page = await list({ ...query, ...(cursor ? { cursor } : {}) })
			pages.push(page)
			cursor = page.cursor
			t.is(cursor !== undefined, page.hasMore)
			if (!page.hasMore) return pages
		}
	}
	return { ...context, get, list, walk }
}

const emails = (pages: Page[]) => pages.flatMap(({ data }) => data.map(({ email }) => email))

test('in every order, the pages are the whole list without gaps or repeats', async (t) => {
	const { walk } = await setup(t)
	for (const sort of ['createdAt', 'email'] as const)
		for (const dir of ['asc', 'desc'])
			for (const subscribed of ['', 'true', 'false']) {
				const pages = await walk({ sort, dir, subscribed, limit: '7' })
				const all = pages.flatMap(({ data }) => data)
				const count = { '': 30, true: 20, false: 10 }[subscribed]!
				t.deepEqual(
					pages.map(({ total }) => total),
					pages.map((_, i) => (i === 0 ? count : 0)),
				)
				t.is(new Set(all.map(({ id }) => id)).size, count)
				const keys = all.map((contact) => `${contact[sort]} ${contact.id}`)
				const sorted = keys.toSorted()
				t.deepEqual(keys, dir === 'asc' ? sorted : sorted.toReversed())
				if (subscribed) t.true(all.every((contact) => String(contact.subscribed) === subscribed))
			}
})

test('without parameters the newest twenty come first, and the rest is a page away', async (t) => {
	const { list } = await setup(t)
	const first = await list()
	t.like(first, { hasMore: true, total: 30 })
	t.is(first.data.length, 20)
	t.true(first.data[0]!.createdAt > first.data[19]!.createdAt)
	const rest = await list({ cursor: first.cursor! })
	t.like(rest, { hasMore: false, total: 0 })
	t.is(rest.data.length, 10)
	t.false('cursor' in rest)
})

test('a search finds parts of the address in any case, and takes % and _ for themselves', async (t) => {
	const { list, walk, pool, project } = await setup(t)
	await pool.query(
		`insert into contacts (project_id, email, subscribed)
		select $1, e, true from unnest($2::text[]) e`,
		[project.id, ['per%cent@x.org', 'under_score@x.org', 'back.slash@x.org', "o'brien@x.org"]],
	)
	const found = async (search: string) => {
		const page = await list({ search, sort: 'email', dir: 'asc' })
		t.is(page.total, page.data.length)
		return page.data.map(({ email }) => email)
	}
	t.deepEqual(await found('P07@EXAMPLE'), ['p07@example.com'])
	t.deepEqual(
		await found(' @x.org '),
		["o'brien@x.org", 'per%cent@x.org', 'under_score@x.org', 'back.slash@x.org'].toSorted(),
	)
	t.deepEqual(await found('%'), ['per%cent@x.org'])
	t.deepEqual(await found('_'), ['under_score@x.org'])
	t.deepEqual(await found('\\'), [])
	t.deepEqual(await found("'"), ["o'brien@x.org"])
	t.deepEqual(await found('p0%'), [])
	t.deepEqual(await found('x'.repeat(2000)), [])
	const pages = await walk({ search: 'p1', subscribed: 'true', limit: '3' })
	t.is(pages[0]!.total, emails(pages).length)
	t.true(emails(pages).every((email) => email.startsWith('p1')))
	t.is((await list({ search: '' })).total, 34)
})

test('a parameter that can’t be understood counts as not given', async (t) => {
	const { list } = await setup(t)
	const byDefault = await list()
	for (const query of [
		{ limit: '0' },
		{ limit: '-3' },
		{ limit: 'many' },
		{ limit: '2.5' },
		{ limit: '' },
		{ sort: 'name' },
		{ dir: 'up' },
		{ subscribed: 'yes' },
		{ subscribed: '1' },
		{ subscribed: 'constructor' },
		{ unknown: 'x' },
		{ limit: ['5', '10'] },
		{ subscribed: ['true', 'false'] },
		{ search: ['p07', 'p08'] },
		{ sort: ['email', 'email'], dir: ['asc', 'asc'] },
		{ unknown: ['x', 'y'] },
	] as Record<string, string | string[]>[])
		t.deepEqual(await list(query), byDefault, JSON.stringify(query))
	t.is((await list({ limit: '1000' })).data.length, 30)
	t.is((await list({ limit: '1' })).data.length, 1)
})

test('a cursor of another list, or none at all, is a 400', async (t) => {
	const { get, list } = await setup(t)
	const { cursor } = await list()
	t.is((await get({ cursor: cursor! })).statusCode, 200)
	const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
	const id = '00000000-0000-0000-0000-000000000000'
	for (const query of [
		{ cursor: 'x' },
		{ cursor: '' },
		{ cursor: cursor!, sort: 'email' },
		{ cursor: [cursor!, cursor!] },
		{ cursor: encode(['createdAt', 1e300, id]) },
		{ cursor: encode(['createdAt', '2026', id]) },
		{ cursor: encode(['email', 'a', 'x']), sort: 'email' },
	] as Record<string, string | string[]>[]) {
		const answer = await get(query)
		t.is(answer.statusCode, 400, JSON.stringify(query))
		t.is(answer.json().error.errors[0].field, 'cursor')
	}
})

test('a contact written during paging is neither lost nor shown twice', async (t) => {
	const { list, pool, project } = await setup(t)
	const first = await list({ limit: '10' })
	await pool.query(`update contacts set data = '{"a": 1}' where project_id = $1`, [project.id])
	await pool.query(
		`insert into contacts (project_id, email, subscribed) values ($1, 'new@example.com', true)`,
		[project.id],
	)
	const second = await list({ limit: '100', cursor: first.cursor! })
	t.is(new Set(emails([first, second])).size, 30)
	t.false(emails([first, second]).includes('new@example.com'))
})

test('a search that finds many pages through all of them, in either order', async (t) => {
	const { walk, pool, project } = await setup(t)
	await pool.query(
		`insert into contacts (project_id, email, subscribed)
		select $1, 'many-' || i || '@example.com', i % 2 = 0 from generate_series(1, 2100) i`,
		[project.id],
	)
	for (const [query, count] of [
		[{ search: 'many-', sort: 'email' }, 2100],
		[{ search: 'ANY-', dir: 'asc' }, 2100],
		[{ search: 'many-1', subscribed: 'true' }, 555],
	] as [Record<string, string>, number][]) {
		const pages = await walk({ ...query, limit: '100' })
		t.is(pages[0]!.total, count)
		t.is(new Set(emails(pages)).size, count)
	}
})

test('slow searches of a project leave connections to others, and are answered in turn', async (t) => {
	const { get, pool } = await setup(t)
	const holder = await pool.connect()
	t.teardown(() => holder.release(true))
	await holder.query('begin; lock table contacts in access exclusive mode')
	const searches = Array.from({ length: 4 }, async () => (await get({ search: 'p' })).json<Page>())
	// After a second, searches go on in the few turns of long ones.
	const waiting = async () => {
		const { rows } = await pool.query<{ isLong: boolean }>(
			`select xact_start < clock_timestamp() - interval '1.2 seconds' as "isLong" from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock'`,
		)
		return rows.map(({ isLong }) => isLong).join()
	}
	t.true(await until(async () => (await waiting()) === 'true,true', 10_000))
	await holder.query('commit')
	t.deepEqual(
		(await Promise.all(searches)).map(({ total }) => total),
		[30, 30, 30, 30],
	)
})
