import test from 'ava'
import { setupFeed } from './helpers/feed.ts'

interface Day {
	date: string
	emails: number
	opens: number
	clicks: number
	bounces: number
	delivered: number
	complaints: number
}
const none = { emails: 0, opens: 0, clicks: 0, bounces: 0, delivered: 0, complaints: 0 }

async function setupDays(t: Parameters<typeof setupFeed>[0]) {
	const context = await setupFeed(t)
	return {
		...context,
		days: (query: string) => context.get<Day[]>(`/analytics/timeseries?${query}`),
	}
}

test('every day is listed, thirty of them until today, with each mail once in every column', async (t) => {
	const { days, get, mail } = await setupDays(t)
	const sent_at = '2026-03-02T10:00:00Z'
	await mail({ sent_at, delivered_at: '2026-03-02T10:01:00Z', opened_at: '2026-03-03T00:00:00Z' })
	await mail({
		sent_at,
		delivered_at: '2026-03-02T23:59:59.999Z',
		opened_at: '2026-03-03T09:00:00Z',
		clicked_at: '2026-03-05T09:00:00Z',
	})
	await mail({ sent_at, bounced_at: '2026-03-02T10:00:05Z' })
	await mail({ sent_at: '2026-03-06T00:00:00Z' })
	t.deepEqual(await days('startDate=2026-03-01&endDate=2026-03-05'), [
		{ date: '2026-03-01', ...none },
		{ date: '2026-03-02', ...none, emails: 3, delivered: 2, bounces: 1 },
		{ date: '2026-03-03', ...none, opens: 2 },
		{ date: '2026-03-04', ...none },
		{ date: '2026-03-05', ...none, clicks: 1 },
	])
	const month = await get<Day[]>('/analytics/timeseries')
	t.is(month.length, 30)
	t.is(month.at(-1)!.date, new Date().toISOString().slice(0, 10))
	t.is((await days('endDate=2026-03-31')).at(0)!.date, '2026-03-02')
})

test('days follow the time zone, with any offset and through clock changes', async (t) => {
	const { days, pool, project } = await setupDays(t)
	const zones = [
		'UTC',
		'Europe/Berlin',
		'America/Havana',
		'Asia/Kathmandu',
		'Australia/Lord_Howe',
		'Pacific/Apia',
		'America/St_Johns',
	]
	const from = Date.parse('2024-12-30T00:00:00Z')
	const times = Array.from(
		{ length: 3000 },
		() => new Date(from + Math.random() * 364 * 86_400_000),
	)
	// Clock changes at midnight: Havana skips one midnight and has another twice.
	for (const [day, hour] of [
		['2025-03-09', 4],
		['2025-11-02', 3],
		['2025-03-30', 0],
		['2025-10-26', 0],
	] as const)
		for (let quarter = 0; quarter < 16; quarter++)
			times.push(new Date(Date.parse(`${day}T0${hour}:00:00Z`) + quarter * 900_000 - 1))
	await pool.query(
		`insert into emails (project_id, "to", "from", subject, source_type, sent_at)
		select $1, 'a', 'a', 'a', 'CAMPAIGN', unnest($2::timestamptz[])`,
		[project.id, times],
	)
	for (const timeZone of zones) {
		const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
		const expected = Map.groupBy(times, (time) => format.format(time))
		const told = await days(`startDate=2024-12-29&endDate=2025-12-29&tz=${timeZone.toLowerCase()}`)
		t.is(told.length, 366)
		const wrong = told.filter(({ date, emails }) => emails !== (expected.get(date)?.length ?? 0))
		t.deepEqual(wrong, [], timeZone)
	}
})

test('a time means its day in the zone', async (t) => {
	const { days } = await setupDays(t)
	const dates = async (query: string) => (await days(query)).map(({ date }) => date)
	const period = 'startDate=2026-03-01T23:30:00Z&endDate=2026-03-03T00:30:00Z'
	t.deepEqual(await dates(`${period}&tz=Europe/Berlin`), ['2026-03-02', '2026-03-03'])
	t.deepEqual(await dates(`${period}&tz=America/New_York`), ['2026-03-01', '2026-03-02'])
})

test('complaints are counted on their day in the zone, also once their month is removed', async (t) => {
	const { days, happen, pool, project } = await setupDays(t)
	await happen('email.complaint', ['2026-03-01T23:30:00Z', '2026-03-02T10:00:00Z'])
	const complaints = async (tz: string) =>
		(await days(`startDate=2026-03-01&endDate=2026-03-03&tz=${tz}`)).map((day) => day.complaints)
	t.deepEqual(await complaints('UTC'), [1, 1, 0])
	t.deepEqual(await complaints('Europe/Berlin'), [0, 2, 0])
	// Removing a month leaves its counts.
	await pool.query(
		`insert into event_tallies (project_id, name, day, count) values ($1, 'email.complaint', '2026-03-03', 4)`,
		[project.id],
	)
	t.deepEqual(await complaints('Europe/Berlin'), [0, 2, 4])
	t.deepEqual(await complaints('America/New_York'), [1, 1, 4])
})
