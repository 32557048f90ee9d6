import test from 'ava'
import { whole } from './helpers/campaigns.ts'
import { delayStep, mailStep } from './helpers/executions.ts'
import { setupFeed } from './helpers/feed.ts'

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

test('events are listed by their types, newest first, with their contacts', async (t) => {
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

test('a failed mail is listed once, with the ledger’s reason', async (t) => {
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

test('campaigns are listed each time they are scheduled, and when all their mail is sent', async (t) => {
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

test('an execution is listed from its start over its mails to its end', async (t) => {
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

test('deleted contacts are no longer named, and deleted events no longer listed', async (t) => {
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
