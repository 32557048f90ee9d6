import test from 'ava'
import { nothing, setupSend } from './helpers/send.ts'

test('a mail is accepted with its contact, its row in the ledger and its place in the queue', async (t) => {
	const { send, mails, contact, written, pool, wakes, project } = await setupSend(t)
	const response = await send({ to: ' Anna@Example.ORG ', subject: 'Hi {{ email }}' })
	t.is(response.statusCode, 200)
	const { success, data } = response.json()
	const [mail] = await mails()
	const { id: contactId, subscribed, data: custom } = await contact('anna@example.org')
	t.true(success)
	t.deepEqual(data.emails, [
		{ contact: { id: contactId, email: 'anna@example.org' }, email: mail!.id },
	])
	t.is(new Date(data.timestamp).toISOString(), data.timestamp)
	t.false(subscribed)
	t.deepEqual(custom, {})
	t.like(mail, {
		projectId: project.id,
		contactId,
		to: 'anna@example.org',
		toName: null,
		from: 'app@example.com',
		fromName: 'Test project',
		replyTo: null,
		subject: 'Hi anna@example.org',
		body: '<p>Hello</p>',
		headers: {},
		language: 'en',
		type: 'TRANSACTIONAL',
		sourceType: 'TRANSACTIONAL',
		status: 'PENDING',
		attachments: null,
		templateId: null,
		renderFault: null,
	})
	t.deepEqual(await written(), { ...nothing, contacts: 1, emails: 1, queued: 1 })
	const { rows } = await pool.query('select request_id, email_ids from queued_sends')
	t.deepEqual(rows[0].email_ids, [mail!.id])
	t.is(rows[0].request_id, mail!.requestId)
	t.is(wakes.count, 1)
})

test('recipients are answered, written and queued in their order, listed ones again as listed', async (t) => {
	const { send, mails, written, pool } = await setupSend(t)
	const to = [
		'zoe@a.org',
		{ email: 'Anna@a.org', name: 'Anna' },
		'zoe@a.org',
		{ email: 'bo@a.org' },
	]
	const { data } = (await send({ to, body: '{{ email }}' })).json()
	const addresses = ['zoe@a.org', 'anna@a.org', 'zoe@a.org', 'bo@a.org']
	t.deepEqual(
		data.emails.map((e: { contact: { email: string } }) => e.contact.email),
		addresses,
	)
	t.is(data.emails[0].contact.id, data.emails[2].contact.id)
	const rows = await mails()
	t.deepEqual(
		rows.map(({ body }) => body),
		addresses,
	)
	t.deepEqual(
		rows.map(({ id }) => id),
		data.emails.map((e: { email: string }) => e.email),
	)
	const queued = await pool.query('select email_ids from queued_sends')
	t.deepEqual(
		queued.rows[0].email_ids,
		rows.map(({ id }) => id),
	)
	t.is(new Set(rows.map(({ requestId }) => requestId)).size, 1)
	t.deepEqual(await written(), { ...nothing, contacts: 3, emails: 4, queued: 1 })
})

test("a recipient's name is used in To, and kept as data if there is none yet", async (t) => {
	const { sent, contact, createContact } = await setupSend(t)
	await createContact('named@a.org', { data: { name: 'Old' } })
	const body = '{{ name }}'
	const fresh = await sent({ to: { email: 'new@a.org', name: ' New ' }, body })
	const named = await sent({ to: { email: 'named@a.org', name: 'Other' }, body })
	const removed = await sent({ to: { email: 'named@a.org', name: 'Third' }, data: { name: null } })
	t.deepEqual([fresh.toName, fresh.body], ['New', 'New'])
	t.deepEqual([named.toName, named.body], ['Other', 'Old'])
	t.is(removed.toName, 'Third')
	t.deepEqual((await contact('new@a.org')).data, { name: 'New' })
	t.deepEqual((await contact('named@a.org')).data, { name: 'Third' })
	await sent({ to: { email: 'given@a.org', name: 'Given' }, data: { name: 'Data' } })
	t.deepEqual((await contact('given@a.org')).data, { name: 'Data' })
})

test('an address that is listed twice gets the first given name', async (t) => {
	const { send, mails, contact } = await setupSend(t)
	const to = ['a@a.org', { email: 'A@a.org', name: 'Ann' }, { email: 'a@a.org', name: 'Bob' }]
	await send({ to, body: '{{ name ?? "nobody" }}' })
	t.deepEqual(
		(await mails()).map(({ toName, body }) => [toName, body]),
		[
			[null, 'nobody'],
			['Ann', 'Ann'],
			['Bob', 'Ann'],
		],
	)
	t.deepEqual((await contact('a@a.org')).data, { name: 'Ann' })
})

test("the sender's name is that of from, else name, else the template's, else the project's", async (t) => {
	const { sent, createTemplate } = await setupSend(t)
	const { id: template } = await createTemplate({ fromName: 'Team' })
	const { id: nameless } = await createTemplate({ fromName: '' })
	const email = 'app@example.com'
	const cases: [object, string][] = [
		[{ from: { email, name: 'Own' }, name: 'Deprecated', template }, 'Own'],
		[{ from: email, name: 'Deprecated', template }, 'Deprecated'],
		[{ from: { email }, name: 'Deprecated', template }, 'Team'],
		[{ from: undefined, name: 'Deprecated', template }, 'Team'],
		[{ from: email, template }, 'Team'],
		[{ from: email, template: nameless }, 'Test project'],
		[{ from: { email, name: ' ' } }, 'Test project'],
		[{ from: { email }, name: 'Deprecated' }, 'Test project'],
		[{ from: email }, 'Test project'],
	]
	for (const [changes, name] of cases) t.is((await sent(changes)).fromName, name)
})

test('reply sets the reply address, by default the template’s', async (t) => {
	const { sent, createTemplate } = await setupSend(t)
	const { id: template } = await createTemplate({ replyTo: ' Team@Example.org ' })
	t.is((await sent({ reply: ' Support@Example.com ' })).replyTo, 'support@example.com')
	t.is((await sent({ reply: 'support@example.com', template })).replyTo, 'support@example.com')
	t.is((await sent({ template })).replyTo, 'team@example.org')
})

test('a template provides subject, body and sender, and the request overrides them', async (t) => {
	const { sent, createTemplate } = await setupSend(t)
	const { id: template } = await createTemplate()
	const data = { name: 'Ann & Bo' }
	const bare = { subject: undefined, body: undefined, from: undefined, template, data }
	t.like(await sent(bare), {
		subject: 'Welcome, Ann & Bo',
		body: '<p>Dear Ann &amp; Bo</p>',
		from: 'team@example.com',
		templateId: template,
	})
	t.is((await sent({ ...bare, subject: 'Own {{ name }}' })).subject, 'Own Ann & Bo')
	const own = await sent({ ...bare, body: 'Own', from: 'app@example.com' })
	t.like(own, { subject: 'Welcome, Ann & Bo', body: 'Own', from: 'app@example.com' })
})

test('an unknown template, and one of another project, are 404 and nothing is written', async (t) => {
	const { send, createTemplate, newProject, written } = await setupSend(t)
	const { project } = await newProject()
	const foreign = await createTemplate({ projectId: project.id })
	for (const id of [foreign.id, crypto.randomUUID()]) {
		const response = await send({ template: id })
		t.is(response.statusCode, 404)
		t.is(response.json().error.code, 'TEMPLATE_NOT_FOUND')
		t.deepEqual(response.json().error.details, { resource: 'template', id })
	}
	t.deepEqual(await written(), nothing)
})

test("a template's sender in mixed case sends from its domain, in lower case", async (t) => {
	const { sent, createTemplate } = await setupSend(t)
	const { id: template } = await createTemplate({ from: ' Team@Example.COM ' })
	t.is((await sent({ from: undefined, template })).from, 'team@example.com')
	t.is((await sent({ from: { email: 'App@EXAMPLE.com' } })).from, 'app@example.com')
})

test('only a verified domain of the project may send, exactly the part after the @', async (t) => {
	const { send, verify, newProject, createTemplate, written, sent } = await setupSend(t)
	await verify('pending.com', null)
	await newProject('foreign.com')
	const { id: template } = await createTemplate({ from: 'a@pending.com' })
	const cases: [object, RegExp, RegExp][] = [
		[{ from: 'a@unknown.com' }, /unknown\.com is not a domain/, /POST \/domains/],
		[{ from: 'a@foreign.com' }, /foreign\.com is not a domain/, /POST \/domains/],
		[{ from: 'a@mail.example.com' }, /mail\.example\.com is not a domain/, /POST \/domains/],
		[{ from: 'a@ample.com' }, /ample\.com is not a domain/, /POST \/domains/],
		[{ from: 'a@pending.com' }, /pending\.com is not verified/, /DNS records/],
		[{ from: undefined, template }, /pending\.com is not verified/, /DNS records/],
	]
	for (const [changes, message, suggestion] of cases) {
		const response = await send(changes)
		const { error } = response.json()
		t.is(response.statusCode, 403)
		t.is(error.code, 'INTERNAL_SERVER_ERROR')
		t.regex(error.message, message)
		t.regex(error.suggestion, suggestion)
	}
	t.deepEqual(await written(), nothing)
	t.is((await sent({ from: 'a@example.com', template })).from, 'a@example.com')
})

test('an international domain is one domain in both spellings', async (t) => {
	const { sent, verify } = await setupSend(t)
	await verify('xn--bcher-kva.example')
	t.is((await sent({ from: 'a@Bücher.example' })).from, 'a@xn--bcher-kva.example')
	t.is((await sent({ to: 'b@bücher.example' })).to, 'b@xn--bcher-kva.example')
})

test('the caller is checked before the body, and the body before the records', async (t) => {
	const { post, send, withPublicKey } = await setupSend(t)
	t.is((await post('{"to":', { authorization: 'Bearer sk_nonsense' })).statusCode, 401)
	const wrong = await post({}, withPublicKey)
	t.is(wrong.statusCode, 401)
	t.is(wrong.json().error.code, 'INVALID_API_KEY')
	const template = crypto.randomUUID()
	t.is((await send({ from: 'a@unknown.com', template, reply: 'x' })).statusCode, 422)
	t.is((await send({ from: 'a@unknown.com', template })).statusCode, 404)
	t.is((await send({ from: 'a@unknown.com' })).statusCode, 403)
})

test('projects that write to the same address have each their own contact', async (t) => {
	const { send, newProject, pool } = await setupSend(t)
	const { withSecretKey } = await newProject('other.com')
	await send({ data: { plan: 'pro' } })
	await send({ from: 'a@other.com', body: '[{{ plan }}]' }, withSecretKey)
	t.is((await send({}, withSecretKey)).statusCode, 403)
	const { rows } = await pool.query(
		`select c.data, e.body from emails e join contacts c on c.project_id = e.project_id
			and c.id = e.contact_id order by e.id`,
	)
	t.deepEqual(rows, [
		{ data: { plan: 'pro' }, body: '<p>Hello</p>' },
		{ data: {}, body: '[]' },
	])
})

test('ready-made HTML is sent with its braces untouched, and a refused template suggests how', async (t) => {
	const { send, sent, createTemplate } = await setupSend(t)
	const body = '<style>a{{color:red}}</style>{% nothing of ours %} {{ name'
	const refused = await send({ body })
	t.is(refused.statusCode, 422)
	t.like(refused.json().error.errors[0], { field: 'body', code: 'template_syntax' })
	t.regex(refused.json().error.suggestion, /render: false/)
	const mail = await sent({ subject: '{{ name }} {%', body, render: false })
	t.like(mail, { subject: '{{ name }} {%', body, renderFault: null })
	const { id } = await createTemplate({ subject: '{{ name }}', body: '{{ name }}' })
	const stored = await sent({ subject: undefined, body: undefined, template: id, render: false })
	t.like(stored, { subject: '{{ name }}', body: '{{ name }}' })
})
