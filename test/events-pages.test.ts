import test from 'ava'
import { Event } from '../db/events/event.ts'
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
