import test from 'ava'
import { createProject } from './helpers/app.ts'
import { setupFeed } from './helpers/feed.ts'

async function setupAnalytics(t: Parameters<typeof setupFeed>[0]) {
	const context = await setupFeed(t)
	const { pool, project } = context
	return {
		...context,
		campaign: async (columns: {
			name?: string
			status?: string
			created_at?: string
			started_at?: string | null
			sent?: number
			opened?: number
			clicked?: number
			projectId?: string
		}) => {
			const { sent = 0, opened = 0, clicked = 0, projectId = project.id } = columns
			const { rows } = await pool.query<{ id: string }>(
				`insert into campaigns (project_id, name, subject, body, "from", audience_type, status, created_at,
					started_at)
				values ($1, $2, 'News', '', 'a@example.com', 'ALL', $3, $4, $5) returning id`,
				[
					projectId,
					columns.name ?? 'Spring',
					columns.status ?? 'SENT',
					columns.created_at ?? new Date(),
					columns.started_at === undefined ? new Date() : columns.started_at,
				],
			)
			await pool.query(
				`insert into campaign_tallies (project_id, campaign_id, sent, opened, clicked)
				values ($1, $2, $3, $4, $5)`,
				[projectId, rows[0]!.id, sent, opened, clicked],
			)
			return rows[0]!.id
		},
	}
}

test('a bad date, zone or limit is a 400 that names it', async (t) => {
	const { refused } = await setupAnalytics(t)
	const cases = {
		'startDate=2026-13-01': 'startDate: invalid_string',
		'endDate=tomorrow': 'endDate: invalid_string',
		'startDate=2026-03-02&endDate=2026-03-01': 'endDate: invalid_string',
		'startDate=0000-01-01': 'startDate: invalid_string',
		'endDate=0001-01-05': 'endDate: invalid_string',
		'endDate=9999-12-31T23:00:00Z&tz=Pacific/Apia': 'endDate: invalid_string',
		'startDate=2999-01-01': 'startDate: invalid_string',
		'startDate=2025-01-01&endDate=2026-01-02': 'startDate: invalid_string',
		'tz=Europe/Nowhere': 'tz: invalid_string',
		'tz=%2B02:00': 'tz: invalid_string',
		"tz='; drop table emails": 'tz: invalid_string',
		'tz=': 'tz: invalid_string',
	}
	const paths = ['timeseries', 'top-campaigns', 'campaign-stats', 'top-events']
	for (const path of paths)
		for (const [query, error] of Object.entries(cases))
			t.deepEqual(
				await refused(`/analytics/${path}?${query}`),
				[400, 'BAD_REQUEST', [error]],
				`${path} ${query}`,
			)
	for (const [path, error] of [
		['top-campaigns?limit=0', 'limit: too_small'],
		['top-campaigns?metric=likes', 'metric: invalid_enum_value'],
		['top-events?limit=x', 'limit: invalid_type'],
	])
		t.deepEqual(await refused(`/analytics/${path}`), [400, 'BAD_REQUEST', [error]])
})

test('top campaigns are those sent on the given days, best first by the chosen metric', async (t) => {
	const { campaign, get } = await setupAnalytics(t)
	const started_at = '2026-03-02T01:00:00Z'
	await campaign({ name: 'Wide', started_at, sent: 300, opened: 30, clicked: 1 })
	await campaign({ name: 'Loved', started_at, sent: 100, opened: 60, clicked: 5 })
	await campaign({ name: 'Clicked', started_at, sent: 3, opened: 2, clicked: 9 })
	await campaign({ name: 'Earlier', started_at: '2026-02-28T12:00:00Z', sent: 999, opened: 999 })
	await campaign({ name: 'Draft', started_at: null })
	const top = async (query: string) =>
		(
			await get<{ name: string }[]>(
				`/analytics/top-campaigns?startDate=2026-03-02&endDate=2026-03-03${query}`,
			)
		).map(({ name }) => name)
	t.deepEqual(await top(''), ['Loved', 'Wide', 'Clicked'])
	t.deepEqual(await top('&metric=sent'), ['Wide', 'Loved', 'Clicked'])
	t.deepEqual(await top('&metric=clicked&limit=2'), ['Clicked', 'Loved'])
	t.deepEqual(await top('&tz=America/New_York'), [])
	const [loved] = await get<object[]>('/analytics/top-campaigns?startDate=2026-03-01&limit=2')
	t.like(loved, {
		name: 'Loved',
		subject: 'News',
		sentCount: 100,
		openedCount: 60,
		clickedCount: 5,
		openRate: 60,
		clickRate: 5,
	})
})

test('figures of campaigns count by status, and average the rates of those that were sent', async (t) => {
	const { campaign, get, pool } = await setupAnalytics(t)
	await campaign({ sent: 100, opened: 50, clicked: 10 })
	await campaign({ sent: 3, opened: 1, clicked: 0, status: 'SENDING' })
	for (const status of ['DRAFT', 'SCHEDULED', 'CANCELLED'])
		await campaign({ status, started_at: null })
	await campaign({ created_at: '2026-01-01T00:00:00Z', sent: 10, opened: 10 })
	const gone = await campaign({ sent: 10, opened: 10 })
	await pool.query('update campaigns set deleted_at = now() where id = $1', [gone])
	const { campaigns, ...figures } = await get<{ campaigns: object[] }>('/analytics/campaign-stats')
	t.deepEqual(figures, {
		total: 5,
		active: 3,
		completed: 1,
		averageOpenRate: 41.67,
		averageClickRate: 5,
	})
	t.is(campaigns.length, 5)
	const row = {
		status: 'SENDING',
		sentCount: 3,
		deliveredCount: 0,
		openedCount: 1,
		clickedCount: 0,
	}
	t.like(campaigns.at(-2)!, { ...row, bouncedCount: 0, openRate: 33.33, clickRate: 0 })
	t.deepEqual(await get('/analytics/campaign-stats?startDate=2020-01-01&endDate=2020-01-02'), {
		total: 0,
		active: 0,
		completed: 0,
		averageOpenRate: 0,
		averageClickRate: 0,
		campaigns: [],
	})
})

test('top events are custom ones by count, with their trend against as many days before', async (t) => {
	const { get, happen } = await setupAnalytics(t)
	const before = ['2026-03-01T12:00:00Z', '2026-03-02T23:59:59.999Z']
	const during = ['2026-03-03T00:00:00Z', '2026-03-03T11:00:00Z', '2026-03-04T23:59:59.999Z']
	await happen('rising', [...before, ...during, ...during])
	await happen('falling', [...before, during[0]!])
	await happen('new', [...during, '2026-02-28T23:59:59.999Z', '2026-03-05T00:00:00Z'])
	await happen('over', before)
	for (const name of ['email.sent', 'contact.subscribed', 'segment.vip.entry', 'segment.vip.exit'])
		await happen(name, [...during, ...during])
	const top = (query: string) => get<object[]>(`/analytics/top-events?${query}`)
	const days = 'startDate=2026-03-03&endDate=2026-03-04'
	t.deepEqual(await top(days), [
		{ name: 'rising', count: 6, trend: 200 },
		{ name: 'new', count: 3, trend: 100 },
		{ name: 'falling', count: 1, trend: -50 },
	])
	t.is((await top(`${days}&limit=2`)).length, 2)
	// Midnight in Kathmandu is 18:15 of the day before.
	t.deepEqual(await top(`${days}&tz=Asia/Kathmandu`), [
		{ name: 'rising', count: 5, trend: 400 },
		{ name: 'falling', count: 2, trend: 100 },
		{ name: 'new', count: 2, trend: 100 },
		{ name: 'over', count: 1, trend: 0 },
	])
})

test('a day with two midnights begins at the first, a day without one when the clocks change', async (t) => {
	const { get, happen } = await setupAnalytics(t)
	await happen('order', ['2025-11-02T04:00:00Z', '2025-11-02T05:00:00Z'])
	await happen('order', ['2025-03-09T04:59:59.999Z', '2025-03-09T05:00:00Z'])
	const count = async (day: string) => {
		const days = `startDate=${day}&endDate=${day}&tz=America/Havana`
		return (await get<{ count: number }[]>(`/analytics/top-events?${days}`))[0]?.count
	}
	t.deepEqual(
		[await count('2025-11-01'), await count('2025-11-02'), await count('2025-11-03')],
		[undefined, 2, undefined],
	)
	t.deepEqual([await count('2025-03-08'), await count('2025-03-09')], [1, 1])
})

test('figures of another project stay hidden', async (t) => {
	const { ask, campaign, get, happen, mail, orm, withPublicKey } = await setupAnalytics(t)
	await mail({ sent_at: new Date().toISOString() })
	await campaign({ sent: 5, opened: 5 })
	await happen('order', [new Date().toISOString()])
	const { withSecretKey: theirs } = await createProject(orm)
	t.true(
		(await get<{ emails: number }[]>('/analytics/timeseries')).some(({ emails }) => emails === 1),
	)
	t.true(
		(await get<{ emails: number }[]>('/analytics/timeseries', theirs)).every(
			({ emails }) => emails === 0,
		),
	)
	t.deepEqual(await get('/analytics/top-campaigns', theirs), [])
	t.like(await get('/analytics/campaign-stats', theirs), { total: 0, averageOpenRate: 0 })
	t.deepEqual(await get('/analytics/top-events', theirs), [])
	for (const path of ['timeseries', 'top-campaigns', 'campaign-stats', 'top-events'])
		t.is((await ask(`/analytics/${path}`, withPublicKey)).statusCode, 401)
})
