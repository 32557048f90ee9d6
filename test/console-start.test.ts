import test from 'ava'
import { setupConsole } from './helpers/console.ts'
import { verifyDomain } from './helpers/send.ts'

test('what needs a decision is above all else, and nothing jumps when it arrives', async (t) => {
	const {
		app,
		page,
		open,
		pool,
		orm,
		project,
		withSecretKey: headers,
		faults,
	} = await setupConsole(t, { setup: { settings: { allowPrivateWebhooks: true } } })
	await verifyDomain(orm, project.id, 'example.com')
	const post = async (url: string, payload: object) => {
		const answer = await app.inject({ method: 'POST', url, headers, payload })
		t.true(answer.statusCode < 300, answer.body)
	}
	await post('/v1/send', {
		to: 'ann@example.org',
		from: 'hello@example.com',
		subject: 'Your receipt',
		body: '<p>Thank you</p>',
	})
	await post('/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: ['*'] })
	await pool.query('update webhook_endpoints set failing_since = now(), failures_in_row = 3')
	await pool.query(
		`insert into feed_entries (project_id, type, metadata) values ($1, 'campaign.sent', $2)`,
		[project.id, { campaignId: crypto.randomUUID(), campaignName: 'Spring news' }],
	)
	await page.addInitScript({
		content: `shifts = []
			new PerformanceObserver((list) => shifts.push(...list.getEntries().map(({ value }) => value)))
				.observe({ type: 'layout-shift', buffered: true })`,
	})
	// The question about endpoints is answered last.
	await page.route('**/webhook-endpoints', async (route) => {
		const answer = await route.fetch()
		await page.waitForTimeout(600)
		await route.fulfill({ response: answer })
	})
	await open('')
	const matters = page.getByRole('list', { name: 'Needs a decision' })
	await matters.getByText('1 webhook endpoint does not accept its events.').waitFor()
	await page.getByRole('heading', { name: 'The last 30 days' }).waitFor()
	await page.getByRole('link', { name: 'Spring news' }).waitFor()
	t.deepEqual(await page.evaluate('shifts.filter((shift) => shift > 0.01)'), [])
	t.deepEqual(faults, [])
})
