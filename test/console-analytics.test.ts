import test, { type ExecutionContext } from 'ava'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'

const browser = { timezoneId: 'UTC' }

async function setupAnalytics(
	t: ExecutionContext,
	options: Parameters<typeof setupConsole>[1] = {},
) {
	const all = await setupConsole(t, { ...options, browser: { ...browser, ...options.browser } })
	const { pool, project } = all
	return {
		...all,
		/** Mails that were sent some days ago, of which some were delivered and opened. */
		mails: (daysAgo: number, sent: number, delivered = 0, opened = 0) =>
			pool.query(
				`insert into emails (project_id, "to", "from", subject, source_type, status, sent_at, delivered_at, opened_at)
				select $1, 'ann@example.org', 'shop@example.com', 'News', 'TRANSACTIONAL', 'SENT', at,
					case when i <= $4 then at end, case when i <= $5 then at end
				from generate_series(1, $3::int) i, (select now() - $2::int * interval '1 day' as at) moment`,
				[project.id, daysAgo, sent, delivered, opened],
			),
		happen: (name: string) =>
			pool.query(`insert into events (project_id, name) values ($1, $2)`, [project.id, name]),
	}
}

test('figures are totals with shares and changes, and a course by days', async (t) => {
	const { page, open, mails, happen, pool, project, faults } = await setupAnalytics(t)
	await mails(1, 40, 30, 10)
	await mails(40, 20)
	await happen('email.complaint')
	await happen('signup')
	await pool.query(
		`insert into campaigns (project_id, name, subject, body, "from", audience_type, status, started_at, total_recipients)
		values ($1, 'Spring news', 'S', 'B', 'a@example.com', 'ALL', 'SENT', now(), 0)`,
		[project.id],
	)
	await open('analytics')
	const figure = (name: string) =>
		page.getByRole('term').filter({ hasText: name }).locator('xpath=..').innerText()
	await page.getByRole('img', { name: 'Mails by day' }).waitFor()
	t.regex(await figure('Sent'), /^Sent\n40\n\+100%$/)
	t.regex(await figure('Delivered'), /^Delivered\n30\n75% of sent\nNone before$/)
	t.regex(await figure('Opened'), /^Opened\n10\n25% of sent/)
	t.regex(await figure('Spam reports'), /^Spam reports\n1\n/)
	await page.getByText('All figures by day').click()
	const days = page.getByRole('table', { name: 'Figures by day' }).getByRole('row')
	t.is(await days.count(), 31)
	t.regex(await days.nth(2).innerText(), /^[\d-]+\s40\s30\s10\s0\s0\s0$/)
	await page.getByRole('table', { name: 'Top campaigns' }).getByText('Spring news').waitFor()
	await page.getByRole('table', { name: 'Top events' }).getByText('signup').waitFor()
	t.deepEqual(faults, [])
})

test('the legend of a chart shows the latest day, until another is pointed at', async (t) => {
	const { page, open, mails, faults } = await setupAnalytics(t)
	await mails(1, 40)
	await mails(0, 3)
	await open('analytics')
	const chart = page.getByRole('img', { name: 'Mails by day' })
	const legend = chart.locator('.u-legend')
	const sent = (count: number) => legend.filter({ hasText: new RegExp(`Sent:?\\s*${count}\\D`) })
	await sent(3).waitFor()
	const plot = (await chart.locator('.u-over').boundingBox())!
	await page.mouse.move(plot.x + (plot.width * 28) / 29, plot.y + 20)
	await sent(40).waitFor()
	await page.mouse.move(plot.x, plot.y - 200)
	await sent(3).waitFor()
	t.deepEqual(faults, [])
})

test('the period stands in the address, and may be of own days', async (t) => {
	const { page, open, home, mails, faults } = await setupAnalytics(t, {
		browser: { viewport: phone },
	})
	await mails(40, 20)
	await open('analytics')
	await page.getByRole('heading', { name: 'No mail in this period' }).waitFor()
	await page.getByLabel('Period').selectOption('Last 90 days')
	await page.getByRole('img', { name: 'Mails by day' }).waitFor()
	t.is(page.url(), `${home}/analytics?days=90`)
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	await page.getByLabel('Period').selectOption('Own period')
	await page.getByLabel('Last day').fill('2026-01-31')
	await page.getByLabel('First day').fill('2026-02-01')
	await page.getByText('The last day must not be before the first').waitFor()
	await page.getByLabel('First day').fill('2026-01-01')
	await page.getByRole('heading', { name: 'No mail in this period' }).waitFor()
	t.is(page.url(), `${home}/analytics?from=2026-01-01&to=2026-01-31`)
	await page.getByLabel('First day').fill('2024-01-01')
	await page.getByText('A period has at most 366 days').waitFor()
	t.deepEqual(faults, [])
})

test('figures that cannot be read show the error, and are asked for again', async (t) => {
	const { page, open, mails, faults } = await setupAnalytics(t)
	await mails(1, 40)
	const error = {
		code: 'DATABASE_ERROR',
		message: 'The database is away',
		suggestion: 'Try again in a moment.',
		requestId: '7',
	}
	await page.route('**/analytics/timeseries?**', (route) =>
		route.fulfill({ status: 500, json: { success: false, error } }),
	)
	await open('analytics')
	const fault = page.getByRole('alert').filter({ hasText: 'The database is away' })
	await fault.getByText('Try again in a moment').waitFor()
	await page.unroute('**/analytics/timeseries?**')
	await fault.getByRole('button', { name: 'Try again' }).click()
	await page.getByRole('img', { name: 'Mails by day' }).waitFor()
	t.is(await fault.count(), 0)
	t.deepEqual(
		faults.filter((one) => !one.includes('500')),
		[],
	)
})

test('the page of analytics has no barrier', async (t) => {
	const { page, open, mails, happen, faults } = await setupAnalytics(t)
	await mails(1, 40, 30, 10)
	await happen('signup')
	await open('analytics')
	await page.getByRole('img', { name: 'Problems by day' }).waitFor()
	await page.getByText('signup').waitFor()
	t.deepEqual(await barriersOf(page), [])
	t.deepEqual(faults, [])
})
