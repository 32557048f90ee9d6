import test, { type ExecutionContext } from 'ava'
import { openCampaigns } from './helpers/campaigns.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { setupMails } from './helpers/mails.ts'

async function setup(t: ExecutionContext, options: Parameters<typeof setupMails>[2] = {}) {
	const context = await setupMails(t, 0, options)
	const { ask, pool } = context
	return {
		...context,
		resend: (id: string, headers: object = {}) =>
			ask(`/emails/${id}/resend`, {
				method: 'POST',
				headers: { ...context.withSecretKey, ...headers },
			}),
		settle: (status = 'SENT') => pool.query('update emails set status = $1', [status]),
	}
}

test('a mail that is sent again is a new mail with the same content, files and person', async (t) => {
	const { sent, settle, resend, mails, pool, wakes } = await setup(t)
	const original = await sent({
		to: { email: 'anna@example.org', name: 'Anna' },
		subject: 'Hello {{ name }}',
		text: 'Hello in plain text',
		headers: { 'X-A': 'b' },
		tags: [{ name: 'kind', value: 'receipt' }],
		reply: 'help@example.com',
		cc: 'boss@example.org',
		attachments: [{ filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' }],
	})
	await settle('BOUNCED')
	const before = wakes.count
	const answer = await resend(original.id)
	t.is(answer.statusCode, 202, answer.body)
	const { id } = answer.json<{ id: string }>()
	t.deepEqual(answer.json(), { id, status: 'PENDING' })
	t.is(wakes.count, before + 1)
	const copy = (await mails()).find((mail) => mail.id === id)!
	t.like(copy, {
		contactId: original.contactId!,
		to: 'anna@example.org',
		toName: 'Anna',
		copies: null,
		subject: 'Hello Anna',
		body: original.body!,
		text: 'Hello in plain text',
		from: original.from!,
		fromName: original.fromName!,
		replyTo: 'help@example.com',
		headers: { 'X-A': 'b' },
		attachments: original.attachments!,
		type: 'TRANSACTIONAL',
		sourceType: 'TRANSACTIONAL',
		status: 'PENDING',
		attempt: 0,
	})
	t.deepEqual(copy.tags, original.tags)
	t.not(copy.requestId, original.requestId)
	const { rows: files } = await pool.query(
		'select content from attachments where request_id = $1',
		[copy.requestId],
	)
	t.deepEqual(files, [{ content: Buffer.from('a') }])
	const { rows: queued } = await pool.query('select id from queued_sends where email_ids = $1', [
		[id],
	])
	t.is(queued.length, 1)
})

test('it is sent to the present address of its contact', async (t) => {
	const { sent, settle, resend, mails, pool } = await setup(t)
	const { id } = await sent({})
	await settle()
	await pool.query(`update contacts set email = 'new@example.org'`)
	t.is((await resend(id)).statusCode, 202)
	t.deepEqual(
		(await mails()).map(({ to }) => to),
		['anna@example.org', 'new@example.org'],
	)
})

test('of two requests with the same key, the second gets the answer of the first', async (t) => {
	const { sent, settle, resend, mails } = await setup(t)
	const { id } = await sent({})
	await settle()
	const key = { 'idempotency-key': 'once' }
	const first = await resend(id, key)
	t.is(first.statusCode, 202, first.body)
	const { details } = isEnvelope(t, await resend(id, key), 409, 'IDEMPOTENCY_KEY_REUSED')
	t.like(details, { originalStatusCode: 202, response: first.json() })
	t.is((await mails()).length, 2)
	// A refusal frees its key.
	const other = { 'idempotency-key': 'other' }
	t.is((await resend(first.json().id, other)).statusCode, 409)
	t.is((await resend(id, other)).statusCode, 202)
})

test('a mail that may still be sent, or whose content is gone, is not sent again', async (t) => {
	const { sent, settle, resend, mails, pool } = await setup(t)
	const { id } = await sent({})
	for (const status of ['PENDING', 'SENDING', 'UNCERTAIN', 'SCHEDULED']) {
		await settle(status)
		t.is(isEnvelope(t, await resend(id), 409, 'CONFLICT').details.status, status)
	}
	await settle()
	await pool.query('update emails set body = null')
	t.regex(isEnvelope(t, await resend(id), 409, 'CONFLICT').message, /deleted/)
	t.is((await resend(crypto.randomUUID())).statusCode, 404)
	t.is((await mails()).length, 1)
})

test('a mail that never had a usable address is not sent again', async (t) => {
	const { sent, settle, resend, mails, pool } = await setup(t)
	const { id } = await sent({})
	await settle()
	await pool.query(`update emails set contact_id = null, "to" = '', status = 'FAILED'`)
	t.regex(isEnvelope(t, await resend(id), 409, 'CONFLICT').message, /no address/)
	t.is((await mails()).length, 1)
})

test('a suppressed address, a missing consent and an unverified sender are refused', async (t) => {
	const { sent, settle, resend, mails, pool } = await setup(t)
	const { id } = await sent({})
	await settle()
	await pool.query(`insert into suppressions (project_id, email, reason)
		select project_id, "to", 'MANUAL' from emails`)
	t.regex(isEnvelope(t, await resend(id), 409, 'CONFLICT').message, /suppression list/)
	await pool.query(`delete from suppressions; update emails set type = 'MARKETING'`)
	t.regex(isEnvelope(t, await resend(id), 409, 'CONFLICT').message, /not subscribed/)
	await pool.query('update contacts set subscribed = true; update domains set verified_at = null')
	isEnvelope(t, await resend(id), 403, 'INTERNAL_SERVER_ERROR')
	await pool.query('update domains set verified_at = now()')
	t.is((await resend(id)).statusCode, 202)
	t.like((await mails()).at(-1), { type: 'MARKETING', sourceType: 'TRANSACTIONAL' })
})

test("a campaign's mail is rendered again, and needs consent like the first", async (t) => {
	const { contacts, started, request, query } = await openCampaigns(t)
	await contacts(1, { data: { name: 'Ann', locale: 'de' } })
	const campaignId = await started({ type: 'HEADLESS' })
	await query(`update emails set status = 'SENT'`)
	await query(`update contacts set data = data || '{"name": "Anna"}'`)
	const [{ id } = { id: '' }] = await query<{ id: string }>('select id from emails')
	await query('update contacts set subscribed = false')
	isEnvelope(t, await request('POST', `/emails/${id}/resend`), 409, 'CONFLICT')
	await query('update contacts set subscribed = true')
	const answer = await request('POST', `/emails/${id}/resend`)
	t.is(answer.statusCode, 202, answer.body)
	const [copy] = await query(
		`select subject, body, "from", campaign_id, type, language, status from emails where id = $1`,
		[answer.json().id],
	)
	t.deepEqual(copy as object, {
		subject: 'Hello Anna',
		body: '<p>Hello Anna</p>',
		from: 'news@example.com',
		campaign_id: null,
		type: 'HEADLESS',
		language: 'de',
		status: 'PENDING',
	})
	t.like((await request('GET', `/campaigns/${campaignId}`)).json(), { totalRecipients: 1 })
})

test('a mail that is sent again counts against the limits', async (t) => {
	const { sent, settle, resend, mails, pool, project } = await setup(t, {
		settings: { features: { billing: true } as never },
	})
	const { id } = await sent({})
	await settle()
	await pool.query(
		`insert into billing_accounts (project_id, transactional_limit) values ($1, 1)`,
		[project.id],
	)
	isEnvelope(t, await resend(id), 429, 'BILLING_LIMIT_EXCEEDED')
	t.is((await mails()).length, 1)
})

test('many mails are sent again at the same time, even with few connections', async (t) => {
	const { sent, settle, resend } = await setup(t)
	const { id } = await sent({ to: 'anna@example.org' })
	await settle()
	const answers = await Promise.all(Array.from({ length: 40 }, () => resend(id)))
	t.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [202])
})
