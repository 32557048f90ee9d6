import test from 'ava'
import { advance } from '../activities/automations/advance.ts'
import { delayStep, freeze } from './helpers/executions.ts'
import { openMcp } from './helpers/mcp.ts'
import { fillForSlowCount } from './helpers/slow-count.ts'

const letter = { from: 'hello@example.com', subject: 'Hello', body: '<p>Hello {{ name }}</p>' }

test('a mail is sent, found, and explained with its attempts', async (t) => {
	const { done, query } = await openMcp(t)
	const to = { email: 'ann@example.org', name: 'Ann' }
	const { data, text } = await done('send_mail', { ...letter, to })
	t.is(text, '1 mail: 1 accepted. Follow each with explain_mail.')
	const emailId = data.emails[0].email
	t.like((await done('search_mails', { address: 'Ann@example.org' })).data, {
		mails: [{ id: emailId, status: 'PENDING', subject: 'Hello', to: 'ann@example.org' }],
		total: 1,
		hasMore: false,
	})
	await query(
		`update emails set status = 'FAILED', error = 'no such mailbox', attempt = 1 where id = $1`,
		[emailId],
	)
	await query(
		`insert into attempts (project_id, email_id, attempt, at, outcome, provider, error)
		select project_id, id, 1, now(), 'REJECTED', 'smtp', 'no such mailbox' from emails where id = $1`,
		[emailId],
	)
	const explained = await done('explain_mail', { emailId })
	t.is(explained.text, 'This mail is FAILED. It was not sent. The error says why.')
	t.like(explained.data, {
		mail: { id: emailId, error: 'no such mailbox', body: '<p>Hello Ann</p>' },
		contact: { email: 'ann@example.org', subscribed: false, data: { name: 'Ann' } },
		suppression: null,
	})
	t.like(explained.data.attempts, [{ outcome: 'REJECTED', error: 'no such mailbox' }])
	t.is((await done('search_mails', { status: 'FAILED' })).data.total, 1)
	t.is((await done('search_mails', { status: 'BOUNCED' })).data.total, 0)
})

test('a scheduled mail is moved, and then cancelled', async (t) => {
	const { done } = await openMcp(t)
	const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
	const to = 'ann@example.org'
	const sent = await done('send_mail', { ...letter, to, delivery: { at: inHours(1) } })
	const emailId = sent.data.emails[0].email
	const at = inHours(2)
	const moved = await done('change_scheduled_mail', { emailId, at })
	t.like(moved.data.mail, { status: 'SCHEDULED', scheduledFor: at })
	const cancelled = await done('change_scheduled_mail', { emailId })
	t.is(cancelled.text, 'The mail is CANCELLED.')
	t.is((await done('search_mails', { status: 'SCHEDULED' })).data.total, 0)
})

test('a person who gets no mail is explained by their address alone', async (t) => {
	const { done, request } = await openMcp(t)
	t.regex((await done('explain_mail', { address: 'nobody@example.org' })).text, /no contact with/)
	await request('POST', '/suppressions', { email: 'bob@example.org' })
	t.regex((await done('explain_mail', { address: 'bob@example.org' })).text, /is suppressed/)
	await done('upsert_contact', { email: 'bob@example.org' })
	t.like(await done('explain_mail', { address: 'bob@example.org' }), {
		text: 'There is a contact with this address, but no mail to it. The address is suppressed, so it gets no mail.',
		data: { mail: null, suppression: { email: 'bob@example.org', reason: 'MANUAL' } },
	})
	await request('DELETE', '/suppressions/bob@example.org')
	for (const subject of ['First', 'Second'])
		await done('send_mail', { ...letter, to: 'bob@example.org', subject })
	const { data } = await done('explain_mail', { address: 'bob@example.org' })
	t.is(data.mail.subject, 'Second')
	t.like(data.earlier, [{ subject: 'First' }])
})

test('a repeated send with the same key sends nothing and returns the first result', async (t) => {
	const { done, query } = await openMcp(t)
	const given = { ...letter, to: 'ann@example.org', idempotencyKey: 'order 1' }
	const first = await done('send_mail', given)
	const second = await done('send_mail', given)
	t.deepEqual(second.data.emails, first.data.emails)
	t.deepEqual([first.data.isRepeat, second.data.isRepeat], [false, true])
	t.is((await query('select from emails')).length, 1)
})

test('a send with a key that another call has used is refused, and says so', async (t) => {
	const { refused, withSecretKey, app } = await openMcp(t)
	const used = await app.inject({
		method: 'POST',
		url: '/v1/send/batch',
		headers: { ...withSecretKey, 'idempotency-key': 'order 7' },
		payload: [{ ...letter, to: 'ann@example.org' }],
	})
	t.is(used.statusCode, 200, used.body)
	const error = await refused('send_mail', {
		...letter,
		to: 'ann@example.org',
		idempotencyKey: 'order 7',
	})
	t.like(error, { code: 'IDEMPOTENCY_KEY_REUSED', statusCode: 409 })
})

test('contacts are created, changed and found, and their timeline is listed', async (t) => {
	const { done } = await openMcp(t)
	const created = await done('upsert_contact', { email: 'Ann@example.org', data: { plan: 'pro' } })
	t.like(created.data, { isNew: true, contact: { email: 'ann@example.org', subscribed: true } })
	const changed = await done('upsert_contact', { email: 'ann@example.org', subscribed: false })
	t.like(changed.data, { isNew: false, contact: { subscribed: false, data: { plan: 'pro' } } })
	t.is((await done('find_contact', { search: 'ann@' })).text, '1 contact found.')
	t.is((await done('find_contact', { search: 'ann@', subscribed: true })).data.total, 0)
	await done('track_event', { email: 'ann@example.org', event: 'order', data: { total: 30 } })
	const { data } = await done('contact_timeline', { address: 'ann@example.org' })
	t.is(data.contact.id, created.data.contact.id)
	t.true(data.entries.some((entry: { type: string }) => entry.type === 'event.triggered'))
	const some = { contactId: data.contact.id, types: ['email.sent'] }
	t.deepEqual((await done('contact_timeline', some)).data.entries, [])
})

test('suppressed addresses are checked and listed', async (t) => {
	const { done, request } = await openMcp(t)
	await request('POST', '/suppressions', { email: 'bob@example.org', reason: 'BOUNCE' })
	t.true((await done('check_suppressions', { address: 'Bob@example.org' })).data.isSuppressed)
	t.false((await done('check_suppressions', { address: 'ob@example.org' })).data.isSuppressed)
	t.like((await done('check_suppressions')).data, {
		suppressions: [{ email: 'bob@example.org', reason: 'BOUNCE' }],
		total: 1,
	})
})

test('segments and conditions are counted without being stored', async (t) => {
	const { done, request, contacts } = await openMcp(t)
	await contacts(3, { data: { plan: 'pro' } })
	await contacts(2, {}, 'other')
	const condition = {
		logic: 'AND',
		groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
	}
	t.is((await done('preview_segment', { condition })).text, '3 contacts match now.')
	const { id } = (await request('POST', '/segments', { name: 'Professionals', condition })).json()
	const { data } = await done('preview_segment', { segmentId: id })
	t.like(data, { members: 3, segment: { name: 'Professionals', condition } })
	t.is(data.some.length, 3)
	t.like((await done('list_segments', { search: 'prof' })).data, {
		segments: [{ id, memberCount: 3 }],
		total: 1,
	})
	t.is((await done('list_segments', { search: 'x' })).data.total, 0)
})

test('a count that takes too long is left out, and a campaign is not sent without it', async (t) => {
	const { done, refused, pool, project, query } = await openMcp(t)
	const condition = await fillForSlowCount(pool)
	const [campaign] = await query<{ id: string }>(
		`insert into campaigns (project_id, name, subject, body, "from", audience_type, audience_condition)
		values ($1, 'Slow', 'S', 'B', 'news@example.com', 'FILTERED', $2) returning id`,
		[project.id, JSON.stringify(condition)],
	)
	const campaignId = campaign!.id
	const matching = await done('preview_segment', { condition })
	t.is(matching.text, 'Counting the contacts that match takes too long.')
	t.deepEqual(matching.data, { matching: null })
	const preview = await done('preview_campaign', { campaignId })
	t.is(
		preview.text,
		'This campaign is DRAFT. Counting the contacts that it reaches takes too long.',
	)
	t.is(preview.data.audience.recipients, null)
	const error = await refused('send_campaign', { campaignId })
	t.is(error.message, 'Counting the recipients of this campaign takes too long')
})

test('the preview of a campaign that has started names the recipients of its start', async (t) => {
	const { done, contacts, frozen } = await openMcp(t)
	await contacts(2)
	const campaignId = await frozen()
	await contacts(1, {}, 'later')
	const { text, data } = await done('preview_campaign', { campaignId })
	t.is(text, 'This campaign is SENDING and had 2 contacts as recipients when it was last counted.')
	t.is(data.audience.recipients, 2)
})

test('a campaign is drafted, changed, previewed, tested and read', async (t) => {
	const { done, contacts, query } = await openMcp(t)
	await contacts(2, { data: { name: 'Kim' } })
	const { data } = await done('draft_campaign', {
		name: 'Spring',
		audienceType: 'ALL',
		...letter,
		from: 'news@example.com',
	})
	const campaignId = data.campaign.id
	t.like(data.campaign, { status: 'DRAFT', totalRecipients: 2 })
	await done('draft_campaign', { campaignId, subject: 'News for {{ name }}' })
	const preview = await done('preview_campaign', { campaignId, address: 'user0@example.net' })
	t.is(preview.text, 'This campaign is DRAFT and reaches 2 contacts now.')
	t.like(preview.data, { subject: 'News for Kim', unset: [], type: 'MARKETING' })
	t.regex(preview.data.text, /Hello Kim/)
	t.is(preview.data.html, undefined)
	t.regex((await done('preview_campaign', { campaignId, withHtml: true })).data.html, /<p>Hello/)
	await done('send_test_mail', { campaignId, address: 'me@example.com' })
	t.deepEqual(await query(`select "to", subject from emails`), [
		{ to: 'me@example.com', subject: '[TEST] News for' },
	])
	t.like((await done('list_campaigns', { search: 'spring' })).data, {
		campaigns: [{ id: campaignId, status: 'DRAFT', subject: 'News for {{ name }}' }],
		total: 1,
	})
	t.like((await done('read_figures', { campaignId })).data, {
		stats: { totalRecipients: 2, sentCount: 0 },
		progress: { total: 2 },
	})
})

test('a running campaign is paused, resumed and cancelled', async (t) => {
	const { done, refused, contacts, frozen } = await openMcp(t)
	await contacts(2)
	const campaignId = await frozen()
	const control = (action: string) => done('control_campaign', { campaignId, action })
	t.is((await control('pause')).text, 'The campaign is SENDING and paused.')
	t.is((await control('resume')).text, 'The campaign is SENDING.')
	t.is((await control('cancel')).text, 'The campaign is CANCELLED.')
	const error = await refused('control_campaign', { campaignId, action: 'pause' })
	t.like(error, {
		code: 'BAD_REQUEST',
		message: 'A campaign that is CANCELLED cannot be paused',
		suggestion: 'Only a SENDING campaign that is not paused can be paused.',
	})
})

test('the figures of the project cover 30 days or a period', async (t) => {
	const { done, query } = await openMcp(t)
	await done('send_mail', { ...letter, to: 'ann@example.org' })
	await query(`update emails set status = 'SENT', sent_at = now()`)
	await done('track_event', { email: 'ann@example.org', event: 'order' })
	const { data } = await done('read_figures')
	t.is(data.days.length, 30)
	t.like(data.topEvents, [{ name: 'order', count: 1 }])
	const period = { startDate: '2026-01-01', endDate: '2026-01-07', tz: 'Europe/Berlin' }
	t.is((await done('read_figures', period)).text, '0 mails in 7 days.')
})

test('domains are listed with the DNS records that they lack', async (t) => {
	const { done, query } = await openMcp(t)
	const records = [
		{ type: 'TXT', name: 'a._domainkey', value: 'v=DKIM1', purpose: 'DKIM', status: 'verified' },
		{ type: 'TXT', name: 'send', value: 'v=spf1 -all', purpose: 'SPF', status: 'pending' },
	]
	await query('update domains set records = $1, verified_at = null', [JSON.stringify(records)])
	const { text, data } = await done('list_domains')
	t.is(text, '1 domain, 0 verified.')
	t.deepEqual(data.domains[0].missing, [records[1]])
	t.deepEqual(data.domains[0].found, [{ type: 'TXT', name: 'a._domainkey', purpose: 'DKIM' }])
})

test('a domain is checked again on demand', async (t) => {
	const checker = { check: async () => ({ isVerified: true, records: [], error: null }) }
	const { done, query } = await openMcp(t, { services: { checker: checker as never } })
	await query('update domains set verified_at = null')
	const [domain] = await query<{ id: string }>('select id from domains')
	const { text } = await done('check_domain', { domainId: domain!.id })
	t.is(text, 'The domain is verified. No record is missing.')
})

test('templates are listed, and a mail can be sent from one', async (t) => {
	const { done, request } = await openMcp(t)
	const template = { name: 'Receipt', type: 'TRANSACTIONAL', ...letter }
	const { id } = (await request('POST', '/templates', template)).json()
	const { data } = await done('list_templates', { search: 'receipt' })
	t.like(data, { templates: [{ id, name: 'Receipt', subject: 'Hello' }], total: 1 })
	t.is(data.templates[0].body, undefined)
	const sent = await done('send_mail', { to: 'ann@example.org', template: id })
	const { mail } = (await done('explain_mail', { emailId: sent.data.emails[0].email })).data
	t.like(mail, { subject: 'Hello', templateId: id })
})

test('workflows are listed with their steps, and an execution with its path', async (t) => {
	const { done, pool, project, request } = await openMcp(t)
	const sketch = { on: 'signup', steps: [delayStep(1, 'hours')], name: 'Onboarding' }
	const workflowId = await freeze(pool, project.id, '', sketch)
	t.like((await done('list_workflows')).data, {
		workflows: [{ id: workflowId, name: 'Onboarding', enabled: true }],
		total: 1,
	})
	t.regex((await done('list_workflows', { workflowId })).text, /is enabled and has/)
	await done('upsert_contact', { email: 'ann@example.org' })
	t.is((await done('explain_execution', { workflowId })).text, '0 executions found.')
	await done('track_event', { email: 'ann@example.org', event: 'signup' })
	const listed = await done('explain_execution', { workflowId, status: 'RUNNING' })
	t.is(listed.data.total, 1)
	const executionId = listed.data.executions[0].id
	const services = { pool, relay: { wake: () => {} }, settings: { publicUrl: 'http://localhost' } }
	await advance(services, { projectId: project.id, executionId }, 0)
	for (const given of [{ executionId }, { address: 'ann@example.org' }]) {
		const { data } = await done('explain_execution', { workflowId, ...given })
		t.like(data.execution, { id: executionId, contact: { email: 'ann@example.org' } })
		t.like(data.path.at(-1), { step: { type: 'DELAY', name: 'Sleep' } })
		t.truthy(data.path.at(-1).wakesAt)
	}
	const executions = (await request('GET', `/workflows/${workflowId}/executions`)).json()
	t.is(executions.total, 1)
})
