import test from 'ava'
import { lastId, Event } from '../db/events/event.ts'
import { blocksReadBy } from './helpers/blocks-read.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { setupEvents } from './helpers/events.ts'

test('the usage of an event names the campaigns that select by it', async (t) => {
	const { get, orm, project } = await setupEvents(t)
	const [{ id }] = await orm.em.fork().execute<[{ id: string }]>(
		`insert into campaigns (project_id, name, subject, body, "from", audience_type, audience_condition)
		values (?, 'Spring', 'S', 'B', 'a@example.com', 'FILTERED', ?) returning id`,
		[
			project.id,
			JSON.stringify({
				logic: 'AND',
				groups: [{ filters: [{ field: 'event.order', operator: 'triggered' }] }],
			}),
		],
	)
	const usedInCampaigns = [{ id, name: 'Spring' }]
	t.like(await get('/events/order/usage'), { usedInCampaigns, canDelete: false })
})

for (const [what, body, status] of [
	['the body of /v1/track', { email: 'ann@example.org', event: 'order' }, 200],
	['a bare event', { name: 'order', data: { n: 1 } }, 201],
] as const)
	test(`POST /events/track with ${what} does its work once for an Idempotency-Key`, async (t) => {
		const { app, orm, withSecretKey } = await setupEvents(t)
		const headers = { ...withSecretKey, 'idempotency-key': 'one' }
		const track = () => app.inject({ method: 'POST', url: '/events/track', headers, payload: body })
		const first = await track()
		t.is(first.statusCode, status, first.body)
		const { details } = isEnvelope(t, await track(), 409, 'IDEMPOTENCY_KEY_REUSED')
		t.like(details, { originalRequest: 'POST /events/track', originalStatusCode: status })
		t.deepEqual(details.response, first.json())
		t.is(await orm.em.fork().count(Event), 1)
	})

test("a contact's events are paged by a cursor, each once, even with equal times", async (t) => {
	const { add, call, createContact, get } = await setupEvents(t)
	const { id: contactId } = await createContact('ann@example.org')
	const at = Date.UTC(2026, 0, 1)
	await add(
		...Array.from({ length: 25 }, (_, i) => ({
			name: ['a', 'b', 'c'][i % 3]!,
			contactId,
			createdAt: new Date(at + Math.floor(i / 10)),
		})),
	)
	const url = `/events/contact/${contactId}`
	const all = await get(url)
	t.is(all.events.length, 25)
	t.false(all.hasMore)
	t.false('cursor' in all)
	const paged: object[] = []
	for (let query = '?limit=7', pages = 1; ; pages++) {
		const { events, cursor, hasMore } = await get(url + query)
		paged.push(...events)
		t.is(hasMore, pages < 4)
		if (!hasMore) break
		query = `?limit=7&cursor=${encodeURIComponent(cursor)}`
	}
	t.deepEqual(paged, all.events)
	isEnvelope(t, await call('GET', `${url}?cursor=x`), 400, 'BAD_REQUEST')
})

test("a contact's latest events are found, and counted in the feed, however many names they have", async (t) => {
	const { createContact, get, pool, project } = await setupEvents(t)
	const { id: contactId } = await createContact('ann@example.org')
	const { rows } = await pool.query<{ id: string }>(
		`with added as (
			insert into events (project_id, name, contact_id, created_at)
			select $1, 'order ' || n % 1100, $2, now() - n * interval '1 second' from generate_series(1, 2200) n
			returning id, created_at
		) select id from added order by created_at desc`,
		[project.id, contactId],
	)
	const ids = rows.map(({ id }) => id)
	const idsOf = (items: { id: string }[]) => items.map(({ id }) => id)
	const url = `/events/contact/${contactId}?limit=1000`
	const { events, cursor } = await get(url)
	t.deepEqual(idsOf(events), ids.slice(0, 1000))
	const next = await get(`${url}&cursor=${encodeURIComponent(cursor)}`)
	t.deepEqual(idsOf(next.events), ids.slice(1000, 2000))
	const { data, total } = await get(`/activity?contactId=${contactId}&limit=100`)
	t.is(total, 2200)
	t.deepEqual(idsOf(data), ids.slice(0, 100))
	t.is((await get(`/activity?contactId=${contactId}&types=email.opened`)).total, 0)
})

test('lists of a contact step through no more than a thousand names of its events', async (t) => {
	const { createContact, pool, project } = await setupEvents(t)
	const { id } = await createContact('ann@example.org')
	const since = new Date(0)
	const filter = [[], true, [], since]
	const blocks = async (names: string) => {
		await pool.query(
			`insert into events (project_id, name, contact_id) select $1, 'order ' || n, $2 from ${names} n`,
			[project.id, id],
		)
		await pool.query('vacuum analyze events')
		const counts: number[] = []
		for (const [name, values] of [
			['latest-events-of-contact', [project.id, 50, id, null, null]],
			['feed-page-of-contact', [project.id, ...filter, 'infinity', lastId, 50, id]],
			['count-feed-of-contact', [project.id, ...filter, null, id]],
		] as const) {
			counts.push(await blocksReadBy(pool, name, values))
		}
		return counts
	}
	const few = await blocks('generate_series(1, 900)')
	const many = await blocks('generate_series(901, 20000)')
	for (const [place, count] of many.entries())
		t.true(count < few[place]! * 2, `${few.join()} ${many.join()}`)
})

test("lists of a contact's events that take too long to read end with 503", async (t) => {
	const { call, createContact, pool } = await setupEvents(t)
	const { id } = await createContact('ann@example.org')
	const holder = await pool.connect()
	await holder.query('begin; lock table events in access exclusive mode')
	const urls = [`/events/contact/${id}`, `/activity?contactId=${id}`]
	const answers = await Promise.all(urls.map((url) => call('GET', url)))
	await holder.query('rollback')
	holder.release()
	for (const answer of answers) {
		isEnvelope(t, answer, 503, 'DATABASE_ERROR')
		t.truthy(answer.headers['retry-after'])
	}
})
