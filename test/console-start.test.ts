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

test('a campaign, a segment or an event of many people is one of the latest happenings', async (t) => {
	const { page, open, pool, project, faults } = await setupConsole(t)
	const contacts = await pool.query<{ id: string }>(
		`insert into contacts (project_id, email, subscribed)
		select $1, 'reader' || n || '@example.org', true from generate_series(1, 120) n returning id`,
		[project.id],
	)
	const ids = contacts.rows.map(({ id }) => id)
	const events = async (name: string, data: object, some: string[]) =>
		pool.query(
			`insert into events (project_id, contact_id, name, data, created_at)
			select $1, id, $2, $3, now() + place * interval '1 ms' from unnest($4::uuid[]) with ordinality as c(id, place)`,
			[project.id, name, data, some],
		)
	const { rows } = await pool.query<{ id: string }>(
		`insert into campaigns (project_id, name, subject, body, "from", audience_type, status, started_at)
		values ($1, 'Spring', 'Spring news', 'Hello', 'us@example.com', 'ALL', 'SENDING', now()) returning id`,
		[project.id],
	)
	await pool.query(
		`insert into emails (project_id, contact_id, "to", source_type, campaign_id, status, is_sent_event, sent_at)
		select $1, id, 'reader@example.org', null, $2, 'SENT', true, clock_timestamp() from unnest($3::uuid[]) id`,
		[project.id, rows[0]!.id, ids],
	)
	await pool.query(
		`insert into emails (project_id, contact_id, "to", "from", subject, language, type, source_type, status, is_sent_event, sent_at)
		values ($1, $2, 'reader1@example.org', 'us@example.com', 'Your receipt', 'en', 'TRANSACTIONAL', 'TRANSACTIONAL',
			'SENT', true, clock_timestamp())`,
		[project.id, ids[0]],
	)
	await events('purchase', { plan: 'pro' }, ids.slice(0, 2))
	const gold = { segmentId: crypto.randomUUID(), segmentName: 'Gold' }
	await events('segment.gold.entry', gold, ids.slice(0, 20))
	await open('')
	const latest = page.getByRole('region', { name: 'Latest' }).getByRole('listitem')
	await latest.filter({ hasText: 'Entered a segment reader20@example.org and 19 more' }).waitFor()
	await latest.filter({ hasText: 'Event purchase reader2@example.org and 1 more' }).waitFor()
	await latest.filter({ hasText: 'Your receipt' }).waitFor()
	t.is(await latest.count(), 4)
	await latest
		.filter({ hasText: /Mail sent reader\d+@example.org and 98\+ more/ })
		.getByRole('link', { name: 'Spring news' })
		.click()
	await page.waitForURL(`**/campaigns/${rows[0]!.id}`)
	t.deepEqual(faults, [])
})
