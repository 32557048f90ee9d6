import test from 'ava'
import { encodeCursor } from '../api/schemas.ts'
import { createProject } from './helpers/app.ts'
import { setupFeed } from './helpers/feed.ts'

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

test('pages follow each other without gap or repeat, at equal times too, while more happens', async (t) => {
	const { contact, feed, happen, pool } = await setupFeed(t)
	const contactId = await contact()
	const times = [9, 9, 9, 8, 8, 7].map((minutes) => minutesAgo(minutes))
	for (const name of ['email.sent', 'email.open', 'order', 'visit']) await happen(name, times)
	await pool.query(
		`insert into feed_entries (project_id, type, at)
		select project_id, 'campaign.sent', created_at from events
		union all select project_id, 'campaign.sent', sent_at from emails`,
	)
	await pool.query('update events set contact_id = $1', [contactId])
	await pool.query('update emails set contact_id = $1', [contactId])
	await pool.query('update feed_entries set contact_id = $1', [contactId])

	for (const filter of ['', `&contactId=${contactId}`]) {
		const { data: all, total } = await feed(`?limit=100${filter}`)
		t.is(all.length, total)
		t.true(total >= 48)
		t.deepEqual(
			all.map(({ timestamp }) => timestamp),
			all.map(({ timestamp }) => timestamp).toSorted((a, b) => (a < b ? 1 : -1)),
		)
		const walked: typeof all = []
		let page = await feed(`?limit=7${filter}`)
		t.is(page.total, total)
		for (;;) {
			walked.push(...page.data)
			if (!page.hasMore) break
			await happen('order', [new Date().toISOString()])
			page = await feed(`?limit=7${filter}&cursor=${page.cursor}`)
			t.is(page.total, 0)
		}
		t.is(page.cursor, undefined)
		t.deepEqual(walked, all)
	}
})

test('the total equals the sum of the pages, for every type and all dates', async (t) => {
	const { contact, feed, get, happen, pool } = await setupFeed(t)
	const contactId = await contact()
	const times = Array.from({ length: 30 }, (_, i) => minutesAgo(60 * 11 * i))
	for (const name of ['email.sent', 'email.open', 'order', 'visit', 'contact.subscribed'])
		await happen(name, times)
	await pool.query(`insert into feed_entries (project_id, type, at)
		select project_id, 'workflow.started', created_at from events where name = 'order'`)
	await pool.query('update events set contact_id = $1 where random() < 0.5', [contactId])
	await pool.query('update emails set contact_id = $1 where random() < 0.5', [contactId])
	await pool.query('update feed_entries set contact_id = $1 where random() < 0.5', [contactId])
	const { types } = await get<{ types: string[] }>('/activity/types')
	const dates = ['', `&startDate=${minutesAgo(9000)}&endDate=${minutesAgo(2000)}`]
	for (const query of [...types.map((type) => `?types=${type}`), '?'])
		for (const filter of ['', `&contactId=${contactId}`])
			for (const period of dates) {
				let page = await feed(`${query}${filter}${period}&limit=40`)
				const { total } = page
				let count = page.data.length
				while (page.hasMore) {
					page = await feed(`${query}${filter}${period}&limit=40&cursor=${page.cursor}`)
					count += page.data.length
				}
				t.is(count, total, `${query}${filter}${period}`)
			}
	t.is((await feed('?types=workflow.started')).total, 30)
})

test('the last thirty days are shown unless dates say otherwise', async (t) => {
	const { feed, happen } = await setupFeed(t)
	const day = 24 * 60
	await happen('order', [minutesAgo(29.9 * day), minutesAgo(31.1 * day)])
	t.is((await feed()).total, 1)
	t.is((await feed()).data.length, 1)
	const date = (minutes: number) => minutesAgo(minutes).slice(0, 10)
	t.is((await feed(`?startDate=${date(32 * day)}`)).data.length, 2)
	const { data } = await feed(`?endDate=${date(31 * day)}`)
	t.is(data.length, 1)
	t.is((await feed('?startDate=0000-01-01&endDate=9999-12-31')).total, 2)
	t.is((await feed('?endDate=0000-01-01')).total, 0)
	t.is((await feed(`?startDate=${date(60 * day)}&endDate=${date(40 * day)}`)).total, 0)
})

test('the feed contains nothing of another project', async (t) => {
	const { ask, contact, feed, get, mail, orm, track, withPublicKey } = await setupFeed(t)
	const contactId = await contact()
	await track('order')
	await mail({ status: 'FAILED', sent_at: new Date().toISOString() })
	const { withSecretKey: theirs } = await createProject(orm)
	const empty = { data: [], hasMore: false, total: 0 }
	t.deepEqual(await feed('', theirs), empty)
	t.deepEqual(await feed(`?contactId=${contactId}`, theirs), empty)
	t.like(await get('/activity/recent-count', theirs), { count: 0 })
	t.like(await get('/activity/stats', theirs), { totalEvents: 0, totalEmailsSent: 0 })
	for (const path of ['', '/stats', '/recent-count', '/types', '/upcoming'])
		t.is((await ask(`/activity${path}`, withPublicKey)).statusCode, 401, path)
})

test('a bad value is a 400 that names it', async (t) => {
	const { refused } = await setupFeed(t)
	const cases = {
		'limit=0': 'limit: too_small',
		'limit=many': 'limit: invalid_type',
		'types=email.sent,nothing': 'types: invalid_enum_value',
		'contactId=ann': 'contactId: invalid_string',
		'startDate=yesterday': 'startDate: invalid_string',
		'endDate=2026-02-30': 'endDate: invalid_string',
		'startDate=2026-03-02&endDate=2026-03-01': 'endDate: invalid_string',
		'cursor=x': 'cursor: invalid_string',
		[`cursor=${encodeCursor(['2026', 'x'])}`]: 'cursor: invalid_string',
		[`cursor=${encodeCursor([1e300, '01a1fe29-0813-7c51-a28b-b05fe694b855'])}`]:
			'cursor: invalid_string',
	}
	for (const [query, error] of Object.entries(cases))
		t.deepEqual(await refused(`/activity?${query}`), [400, 'BAD_REQUEST', [error]], query)
	for (const [path, error] of [
		['stats?startDate=x', 'startDate: invalid_string'],
		['recent-count?minutes=0', 'minutes: too_small'],
		['upcoming?daysAhead=x', 'daysAhead: invalid_type'],
		['upcoming?limit=-1', 'limit: too_small'],
	] as const)
		t.deepEqual(await refused(`/activity/${path}`), [400, 'BAD_REQUEST', [error]], path)
})
