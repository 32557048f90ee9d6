import test from 'ava'
import { setupReports } from './helpers/reports.ts'
import { resendEvent } from './helpers/resend-webhooks.ts'
import { longestStall } from './helpers/stall.ts'

const received = (mail: object = {}, more: object = {}) =>
	resendEvent(
		'received',
		{ from: 'Anna Né <Anna@Example.org>', to: ['Help <help@example.com>'], ...mail },
		{
			message_id: '<question@example.org>',
			received_for: ['help@example.com'],
			attachments: [],
			...more,
		},
	)

test("a mail that comes in makes its sender a contact of the domain's project", async (t) => {
	const { post, contact, execute, mails, app, withSecretKey } = await setupReports(t)
	t.is((await post(received())).statusCode, 200)
	const sender = await contact('anna@example.org')
	t.false(sender.subscribed)
	const [mail] = await mails()
	t.like(mail, {
		status: 'RECEIVED',
		sourceType: 'INBOUND',
		contactId: sender.id,
		from: 'anna@example.org',
		fromName: 'Anna Né',
		to: 'help@example.com',
		subject: 'Hello',
	})
	const events = await execute<{ name: string; contact_id: string; data: object }>(
		'select * from events',
	)
	t.is(events.length, 1)
	t.like(events[0], { name: 'email.received', contact_id: sender.id })
	t.like(events[0]!.data, {
		from: 'anna@example.org',
		to: 'help@example.com',
		messageId: '<question@example.org>',
		emailId: mail!.id,
		sourceType: 'INBOUND',
	})
	const answer = await app.inject({ url: `/emails/${mail!.id}`, headers: withSecretKey })
	t.like(answer.json(), {
		status: 'RECEIVED',
		body: null,
		messageId: '<question@example.org>',
	})
})

test('a mail that came in without a Message-ID is shown without one', async (t) => {
	const { post, app, withSecretKey: headers } = await setupReports(t)
	t.is((await post(received({}, { message_id: undefined }))).statusCode, 200)
	const { data } = (await app.inject({ url: '/emails', headers })).json()
	t.is(data.length, 1)
	t.is(data[0].messageId, null)
})

test('a contact stays as it is; one that arrives by two mails at once is one', async (t) => {
	const { post, createContact, contact, mails, execute } = await setupReports(t)
	await createContact('anna@example.org', { subscribed: true, data: { plan: 'pro' } })
	await post(received())
	t.like(await contact('anna@example.org'), { subscribed: true, data: { plan: 'pro' } })
	const posts = Array.from({ length: 6 }, () => post(received({ from: 'new@example.org' })))
	for (const { statusCode } of await Promise.all(posts)) t.is(statusCode, 200)
	t.is((await mails()).length, 7)
	t.is((await execute(`select 1 from contacts where email = 'new@example.org'`)).length, 1)
})

test('each project with a recipient’s verified domain gets the mail once, others do not', async (t) => {
	const { post, newProject, verify, execute, project } = await setupReports(t)
	const second = await newProject('second.example')
	await verify('pending.example', null)
	const to = [
		'a@example.com',
		'b@example.com',
		'c@SECOND.example',
		'd@pending.example',
		'e@elsewhere.example',
	]
	const body = received({}, { to, received_for: [] })
	await post(body, { id: 'msg_1' })
	t.like((await post(body, { id: 'msg_1' })).json(), { duplicate: true })
	const rows = await execute('select project_id, "to" from emails order by "to"')
	t.deepEqual(rows, [
		{ project_id: project.id, to: 'a@example.com' },
		{ project_id: second.project.id, to: 'c@second.example' },
	])
	await post(received({}, { to: ['x@pending.example'], received_for: ['y@sub.example.com'] }))
	t.is((await execute('select 1 from emails')).length, 2)
})

test.serial('a mail to tens of thousands of addresses delays no other request', async (t) => {
	const { post, mails } = await setupReports(t)
	const to = Array.from({ length: 40_000 }, (_, n) => `a${n}@b.org`)
	await post(received())
	const stall = await longestStall(async () => {
		t.is((await post(received({ to }))).statusCode, 200)
	})
	t.true(stall < 50, `${stall} ms`)
	t.is((await mails()).length, 2)
})
