import test from 'ava'
import { encodeCursor } from '../api/schemas.ts'
import { createProject } from './helpers/app.ts'
import { whole } from './helpers/campaigns.ts'
import { delayStep, mailStep } from './helpers/executions.ts'
import { setupFeed } from './helpers/feed.ts'

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

test('events are told as what they are, newest first, with their contacts', async (t) => {
	const { call, contact, feed, happen, track } = await setupFeed(t)
	const id = await contact('ann@example.org')
	const names = [
		'email.sent',
		'email.delivery',
		'email.received',
		'email.open',
		'email.click',
		'email.bounce',
		'email.complaint',
		'toString',
	]
	for (const [i, name] of names.entries()) await happen(name, [minutesAgo(20 - i)])
	await track('order placed', { amount: 5 })
	await call('PATCH', `/contacts/${id}`, { subscribed: false })
	await call('PATCH', `/contacts/${id}`, { subscribed: true })

	const { data, hasMore, total } = await feed()
	t.deepEqual(
		data.map(({ type }) => type),
		[
			'contact.subscribed',
			'contact.unsubscribed',
			'event.triggered',
			'event.triggered',
			'email.complaint',
			'email.bounced',
			'email.clicked',
			'email.opened',
			'email.received',
			'email.delivered',
			'email.sent',
		],
	)
	t.deepEqual([hasMore, total], [false, 11])
	t.like(data[2], {
		contactId: id,
		contactEmail: 'ann@example.org',
		metadata: { eventName: 'order placed', data: { amount: 5 } },
	})
	t.deepEqual(Object.keys(data[4]!).toSorted(), ['id', 'metadata', 'timestamp', 'type'])
	const { data: one } = await feed('?types=event.triggered')
	t.deepEqual(one, [data[2]!, data[3]!])
})

test('a mail that fails is told once, with what the ledger says of it', async (t) => {
	const { contact, feed, mail, pool } = await setupFeed(t)
	const contactId = await contact()
	const id = await mail()
	await pool.query('update emails set contact_id = $1', [contactId])
	t.is((await feed()).total, 0)
	await pool.query(`update emails set status = 'FAILED', error = 'No such domain'`)
	await pool.query(`update emails set updated_at = now()`)
	const { data, total } = await feed()
	t.is(total, 1)
	t.like(data[0], {
		type: 'email.failed',
		contactId,
		metadata: { emailId: id, subject: 'Hello', error: 'No such domain' },
	})
})

test('campaigns are told when they are scheduled, each time, and when all of them is sent', async (t) => {
	const { call, contact, feed, pool } = await setupFeed(t)
	await contact()
	const created = await call('POST', '/campaigns', whole)
	const { id } = created.json().data
	for (const scheduledFor of ['2099-01-01T00:00:00.000Z', '2099-01-02T00:00:00.000Z'])
		t.is((await call('POST', `/campaigns/${id}/send`, { scheduledFor })).statusCode, 200)
	await pool.query('update campaigns set updated_at = now()')
	await pool.query(`update campaigns set status = 'SENDING'`)
	await pool.query(`update campaigns set status = 'SENT', sent_at = now(), name = 'Spring, sent'`)
	const { data } = await feed('?types=campaign.sent,campaign.scheduled')
	t.deepEqual(
		data.map(({ type, metadata }) => [type, metadata['campaignName'], metadata['scheduledFor']]),
		[
			['campaign.sent', 'Spring, sent', '2099-01-02T00:00:00.000Z'],
			['campaign.scheduled', 'Spring', '2099-01-02T00:00:00.000Z'],
			['campaign.scheduled', 'Spring', '2099-01-01T00:00:00.000Z'],
		],
	)
	t.is(data[0]!.metadata['campaignId'], id)
})

test('an execution is told from its start over its mails to its end', async (t) => {
	const { advance, contact, executionId, feed, freeze, track } = await setupFeed(t)
	const contactId = await contact()
	await freeze({ on: 'bought', steps: [mailStep, delayStep(1, 'days')] })
	await track('bought')
	const id = await executionId()
	const workflow = '?types=workflow.started&types=workflow.completed,workflow.email.scheduled'
	const told = async () => (await feed(workflow)).data.map(({ type }) => type)
	t.deepEqual(await told(), ['workflow.started'])
	await advance(id)
	t.deepEqual(await told(), ['workflow.email.scheduled', 'workflow.started'])
	await advance(id, 3)
	const { data } = await feed(`${workflow}&contactId=${contactId}`)
	t.deepEqual(
		data.map(({ type }) => type),
		['workflow.completed', 'workflow.email.scheduled', 'workflow.started'],
	)
	t.like(data[0]!.metadata, { workflowName: 'Welcome', executionId: id, status: 'COMPLETED' })
	t.like(data[1]!.metadata, { executionId: id, sourceType: 'WORKFLOW', subject: 'Hello' })
	t.like(data[2]!.metadata, { eventName: 'bought' })
})

test('pages follow each other without gap or repeat, at equal times too, while more happens', async (t) => {
	const { contact, feed, happen, pool } = await setupFeed(t)
	const contactId = await contact()
	const times = [9, 9, 9, 8, 8, 7].map((minutes) => minutesAgo(minutes))
	for (const name of ['email.sent', 'email.open', 'order', 'visit']) await happen(name, times)
	await pool.query(
		`insert into feed_entries (project_id, type, at)
		select project_id, 'campaign.sent', created_at from events`,
	)
	await pool.query('update events set contact_id = $1', [contactId])
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

test('the total is what the pages come to, for every type and any dates', async (t) => {
	const { contact, feed, get, happen, pool } = await setupFeed(t)
	const contactId = await contact()
	const times = Array.from({ length: 30 }, (_, i) => minutesAgo(60 * 11 * i))
	for (const name of ['email.sent', 'email.open', 'order', 'visit', 'contact.subscribed'])
		await happen(name, times)
	await pool.query(`insert into feed_entries (project_id, type, at)
		select project_id, 'workflow.started', created_at from events where name = 'order'`)
	await pool.query('update events set contact_id = $1 where random() < 0.5', [contactId])
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

test('the last thirty days are told unless dates say otherwise', async (t) => {
	const { feed, happen } = await setupFeed(t)
	const day = 24 * 60
	await happen('order', [minutesAgo(29.9 * day), minutesAgo(31.1 * day)])
	t.is((await feed()).total, 1)
	t.is((await feed()).data.length, 1)
	const date = (minutes: number) => minutesAgo(minutes).slice(0, 10)
	t.is((await feed(`?startDate=${date(32 * day)}`)).data.length, 2)
	const { data } = await feed(`?endDate=${date(31 * day)}`)
	t.is(data.length, 1)
	t.is((await feed(`?startDate=${date(60 * day)}&endDate=${date(40 * day)}`)).total, 0)
})

test('who is deleted is named no more; deleted events are told no more', async (t) => {
	const { call, contact, feed, track } = await setupFeed(t)
	const id = await contact()
	await track('order')
	await call('PATCH', `/contacts/${id}`, { subscribed: false })
	t.is((await call('DELETE', `/contacts/${id}`)).statusCode, 204)
	const { data, total } = await feed()
	t.is(total, 2)
	t.deepEqual(
		data.map((item) => 'contactId' in item || 'contactEmail' in item),
		[false, false],
	)
	await call('DELETE', '/events/order')
	const left = await feed()
	t.deepEqual([left.total, left.data.map(({ type }) => type)], [1, ['contact.unsubscribed']])
})

test('nobody sees or counts what happens in another project', async (t) => {
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
