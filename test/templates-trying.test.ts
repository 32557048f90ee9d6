import test, { type ExecutionContext } from 'ava'
import { openCampaigns } from './helpers/campaigns.ts'
import { isEnvelope } from './helpers/envelope.ts'

const content = {
	subject: 'Hello {{ name }}',
	body: '<p>Hello {{ name ?? "there" }}, {{ plan }}</p>',
}

async function setup(t: ExecutionContext, options: Parameters<typeof openCampaigns>[1] = {}) {
	const context = await openCampaigns(t, options)
	const call = (path: string, payload: object) =>
		context.request('POST', `/templates${path}`, payload)
	const template = async (changes: object = {}) => {
		const from = 'news@example.com'
		const answer = await call('', { name: 'T', ...content, from, ...changes })
		t.is(answer.statusCode, 201, answer.body)
		return answer.json().id as string
	}
	return { ...context, call, template }
}

test('a preview of content is that of a template with the same content', async (t) => {
	const { call, template, contacts } = await setup(t)
	const [contactId] = await contacts(1, { data: { name: 'Ann' } })
	for (const type of ['MARKETING', 'TRANSACTIONAL']) {
		const id = await template({ type })
		for (const person of [{}, { data: { plan: 'pro' } }, { contactId }]) {
			const answer = await call('/preview', { ...content, type, ...person })
			t.is(answer.statusCode, 200, answer.body)
			const stored = (await call(`/${id}/preview`, person)).json()
			t.is(answer.json().html, stored.html)
			t.deepEqual(answer.json(), stored)
		}
	}
})

test('captured text is text for every filter', async (t) => {
	const { call } = await setup(t)
	const shown = async (template: string) => {
		const text = `{% capture c %}a&b{% endcapture %}${template}`
		const body = `<p class="x">${text}</p>`
		return (await call('/preview', { subject: 'S', body, type: 'HEADLESS' })).json().text
	}
	t.is(await shown('{% assign size = c | size %}{% if size > 0 %}{{ size }}{% endif %}'), '3')
	t.is(await shown('{{ c | json }}'), '"a&b"')
	t.is(await shown('{{ "x" | split: "," | push: c | json }}'), '["x","a&b"]')
})

test('escape_once leaves the entities of a value as they are', async (t) => {
	const { call } = await setup(t)
	const data = { value: '5 &lt; 6 &amp; &#39;so&#x27; & <b>"on"</b> &nope' }
	const body = '<p class="x">{{ value | escape_once }}</p>'
	const { html } = (await call('/preview', { subject: 'S', body, type: 'HEADLESS', data })).json()
	t.is(
		html,
		'<p class="x">5 &lt; 6 &amp; &#39;so&#x27; &amp; &lt;b&gt;&quot;on&quot;&lt;/b&gt; &amp;nope</p>',
	)
})

test('nothing of a preview is stored, and its sender needs no domain', async (t) => {
	const { call, query } = await setup(t)
	t.is((await call('/preview', { ...content, from: 'me@elsewhere.example' })).statusCode, 200)
	t.deepEqual(await query('select from templates'), [])
	t.deepEqual(await query(`select from audit_entries where action like '%preview%'`), [])
})

test('a preview shows the text part of the mail: the given one, or one made from the body', async (t) => {
	const { call } = await setup(t)
	const mail = { ...content, type: 'TRANSACTIONAL', data: { name: '<Ann>' } }
	const given = (await call('/preview', { ...mail, text: 'Dear {{ name }}, {{ city }}' })).json()
	t.is(given.text, 'Dear <Ann>, ')
	t.deepEqual(given.unset, ['plan', 'city'])
	for (const text of [null, '', undefined])
		t.regex((await call('/preview', { ...mail, text })).json().text, /^Hello <Ann>,/)
})

test('syntax that cannot be read is a 422 with its line and column', async (t) => {
	const { call } = await setup(t)
	for (const field of ['subject', 'body', 'text']) {
		const answer = await call('/preview', { ...content, [field]: 'a {% if %}' })
		const [error] = isEnvelope(t, answer, 422, 'VALIDATION_ERROR').errors
		t.like(error, { field, code: 'template_syntax', line: 1, column: 8 })
		t.regex(error!.message, /line 1, column 8/)
	}
	const unknown = await call('/preview', { ...content, contactId: crypto.randomUUID() })
	isEnvelope(t, unknown, 404, 'CONTACT_NOT_FOUND')
})

test('a test of a template is rendered for its contact, marked, and queued like every mail', async (t) => {
	const { call, template, contacts, query, wakes } = await setup(t)
	const [ann] = await contacts(1, { data: { name: 'Ann', locale: 'de' } })
	const id = await template({ fromName: 'News', replyTo: 'reply@example.com' })
	const answer = await call(`/${id}/test`, {
		to: ' Me@Example.net ',
		contactId: ann,
		data: { plan: 'pro' },
	})
	t.is(answer.statusCode, 200, answer.body)
	t.deepEqual(answer.json(), { message: 'A test is on its way to me@example.net' })
	const [mail] = await query<{ body: string }>(
		`select "to", "from", from_name, reply_to, subject, body, language, contact_id, template_id, tracked,
			status, queued_sends.email_ids = array[emails.id] as queued
		from emails, queued_sends`,
	)
	const { body, ...rest } = mail!
	t.deepEqual(rest as object, {
		to: 'me@example.net',
		from: 'news@example.com',
		from_name: 'News',
		reply_to: 'reply@example.com',
		subject: '[TEST] Hello Ann',
		language: 'de',
		contact_id: null,
		template_id: null,
		tracked: false,
		status: 'PENDING',
		queued: true,
	})
	t.regex(body, /Hello Ann, pro/)
	t.regex(body, /Abmelden/)
	t.is(wakes.count, 1)
})

test('a test is of the template, whatever else its body has', async (t) => {
	const { call, template, query } = await setup(t)
	const id = await template()
	const content = {
		from: 'news@example.com',
		fromName: 'X\r\nBcc: a@b.c',
		subject: 'Other',
		body: 'Other',
	}
	for (const other of [content, 5])
		t.is((await call(`/${id}/test`, { to: 'me@example.net', content: other })).statusCode, 200)
	const mails = await query<{ subject: string; from_name: string }>(
		'select subject, from_name from emails',
	)
	t.is(mails.length, 2)
	for (const { subject, from_name: name } of mails) t.notRegex(subject + name, /Other|Bcc/)
})

test('without a contact, a test uses the data of the one that has its address', async (t) => {
	const { call, template, contacts, query } = await setup(t)
	await contacts(1, { data: { name: 'Ann' } })
	const id = await template()
	t.is((await call(`/${id}/test`, { to: 'User0@example.net' })).statusCode, 200)
	t.like(await query('select subject from emails'), [{ subject: '[TEST] Hello Ann' }])
})

test('a test is refused for a stranger, a suppressed address or an unverified sender', async (t) => {
	const { call, template, query, project } = await setup(t, {
		settings: { emailProvider: 'smtp' },
	})
	const id = await template()
	const sendTest = (changes: object = {}) =>
		call(`/${id}/test`, { to: 'me@example.org', ...changes })
	isEnvelope(t, await sendTest(), 403, 'FORBIDDEN')
	await query(
		`with member as (insert into users (email) values ('me@example.org') returning id)
		insert into memberships (project_id, user_id) select $1, id from member`,
		[project.id],
	)
	isEnvelope(t, await sendTest({ contactId: crypto.randomUUID() }), 404, 'CONTACT_NOT_FOUND')
	t.is((await sendTest()).statusCode, 200)
	await query(
		`insert into suppressions (project_id, email, reason) values ($1, 'me@example.org', 'MANUAL')`,
		[project.id],
	)
	isEnvelope(t, await sendTest(), 409, 'CONFLICT')
	await query('update domains set verified_at = null')
	isEnvelope(t, await sendTest(), 403, 'INTERNAL_SERVER_ERROR')
	isEnvelope(
		t,
		await call(`/${crypto.randomUUID()}/test`, { to: 'me@example.org' }),
		404,
		'TEMPLATE_NOT_FOUND',
	)
	t.is((await query('select from emails')).length, 1)
})
