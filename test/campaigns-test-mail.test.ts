import test from 'ava'
import { openCampaigns } from './helpers/campaigns.ts'
import { isEnvelope } from './helpers/envelope.ts'

const body = '<p>Hello {{ name ?? "you" }}, {{ extra }}</p>'

test('a test is rendered with the data of its contact, marked, and counted nowhere', async (t) => {
	const { call, create, contacts, query, progress, wakes } = await openCampaigns(t)
	await contacts(1, { subscribed: false, data: { name: 'Anna', locale: 'de' } })
	const { id } = await create({ body, fromName: 'News', replyTo: 'reply@example.com' })
	const answer = await call('POST', `/${id}/test`, {
		email: ' User0@Example.net ',
		data: { extra: '<b>' },
	})
	t.is(answer.statusCode, 200, answer.body)
	t.deepEqual(answer.json(), { message: 'A test is on its way to user0@example.net' })
	const [mail] = await query(
		`select "to", "from", from_name, reply_to, subject, body, language, contact_id, campaign_id, tracked,
			type, source_type, status, queued_sends.email_ids = array[emails.id] as queued
		from emails, queued_sends`,
	)
	const { body: html, ...rest } = mail as { body: string }
	t.deepEqual(rest as object, {
		to: 'user0@example.net',
		from: 'news@example.com',
		from_name: 'News',
		reply_to: 'reply@example.com',
		subject: '[TEST] Hello Anna',
		language: 'de',
		contact_id: null,
		campaign_id: null,
		tracked: false,
		type: 'TRANSACTIONAL',
		source_type: 'TRANSACTIONAL',
		status: 'PENDING',
		queued: true,
	})
	t.regex(html, /Hello Anna, &lt;b&gt;/)
	t.regex(html, /Abmelden/)
	t.like(await progress(id), { total: 0 })
	t.is(wakes.count, 1)
})

test('a test mail may go to an address that is no contact', async (t) => {
	const { call, create, query } = await openCampaigns(t)
	const { id } = await create({ body })
	t.is((await call('POST', `/${id}/test`, { email: 'me@example.org' })).statusCode, 200)
	const [mail] = await query<{ subject: string; body: string }>('select subject, body from emails')
	t.is(mail!.subject, '[TEST] Hello')
	t.regex(mail!.body, /Hello you, /)
	t.deepEqual(await query('select from contacts'), [])
})

test('with a real provider tests go to members only', async (t) => {
	const { call, create, query, project } = await openCampaigns(t, {
		settings: { emailProvider: 'smtp' },
	})
	const { id } = await create()
	await query(
		`with member as (insert into users (email) values ('me@example.org') returning id)
		insert into memberships (project_id, user_id) select $1, id from member`,
		[project.id],
	)
	t.is((await call('POST', `/${id}/test`, { email: 'Me@example.org' })).statusCode, 200)
	isEnvelope(t, await call('POST', `/${id}/test`, { email: 'you@example.org' }), 403, 'FORBIDDEN')
	t.is((await query('select from emails')).length, 1)
})

test('a test needs an address, a verified sender and sound data', async (t) => {
	const { call, create, query } = await openCampaigns(t)
	const { id } = await create()
	for (const [payload, field] of [
		[{}, 'email'],
		[{ email: 'nobody' }, 'email'],
		[{ email: 5 }, 'email'],
		[{ email: 'a@example.org', data: [] }, 'data'],
	] as const)
		t.is(
			isEnvelope(t, await call('POST', `/${id}/test`, payload), 422, 'VALIDATION_ERROR').errors[0]
				.field,
			field,
		)
	await query('update domains set verified_at = null')
	isEnvelope(
		t,
		await call('POST', `/${id}/test`, { email: 'a@example.org' }),
		403,
		'INTERNAL_SERVER_ERROR',
	)
	t.deepEqual(await query('select from emails'), [])
})
