import test from 'ava'
import { readPage } from './helpers/doc-examples.ts'
import { setupSend } from './helpers/send.ts'

test('a text of its own is rendered like the body, without escaping, and stored beside it', async (t) => {
	const { sent, refused, app, withSecretKey } = await setupSend(t)
	const mail = await sent({
		text: 'Dear {{ name }},\n\nyour {{ things }}.',
		data: { name: 'Ann & Bob', things: ['tea', 'cake'] },
	})
	t.is(mail.text, 'Dear Ann & Bob,\n\nyour tea, cake.')
	t.is(mail.body, '<p>Hello</p>')
	const shown = await app.inject({ url: `/emails/${mail.id}`, headers: withSecretKey })
	t.is(shown.json<{ text: string }>().text, mail.text!)
	const plain = await sent({ text: 'A {{ brace }}', render: false })
	t.is(plain.text, 'A {{ brace }}')
	t.is((await sent()).text, null)
	t.deepEqual(await refused({ text: '{{ x' }), ['text: template_syntax'])
})

test('a text without a body is the whole content, and its HTML has the same paragraphs', async (t) => {
	const { sent, refused, createTemplate } = await setupSend(t)
	const text = 'Dear {{ name }},\nthanks & bye.\n\nThe < team'
	const data = { name: '<Ann>' }
	const mail = await sent({ body: undefined, text, data })
	t.is(mail.text, 'Dear <Ann>,\nthanks & bye.\n\nThe < team')
	t.is(mail.body, '<p>Dear &lt;Ann&gt;,<br>\nthanks &amp; bye.</p>\n<p>The &lt; team</p>')
	const { id: template } = await createTemplate()
	const both = await sent({ body: undefined, subject: undefined, text: 'Short', template })
	t.deepEqual([both.body, both.text], ['<p>Dear &lt;Ann&gt;</p>', 'Short'])
	t.deepEqual(await refused({ body: undefined }), ['body: required', 'template: custom'])
})

test('a fault in the text part is reported, and the mail is sent without that part', async (t) => {
	const { sent } = await setupSend(t)
	const mail = await sent({ text: 'a{{ (1..999999999) }}b' })
	t.is(mail.text, 'ab')
	t.regex(mail.renderFault!, /^In the text, /)
})

test('tags are stored with the mail and returned with it', async (t) => {
	const { sent, refused, app, withSecretKey } = await setupSend(t)
	const tags = [
		{ name: 'category', value: 'receipt' },
		{ name: 'order', value: '17' },
	]
	const { id } = await sent({ tags: tags.map((tag) => ({ ...tag, other: 1 })) })
	await sent({ tags: [] })
	const { data } = (await app.inject({ url: '/emails', headers: withSecretKey })).json<{
		data: { id: string; tags: object[] }[]
	}>()
	t.deepEqual(
		data.map(({ tags }) => tags),
		[[], tags],
	)
	t.is(data[1]!.id, id)
	t.deepEqual(await refused({ tags: [{ name: 'a b', value: 'x' }] }), [
		'tags.0.name: invalid_string',
	])
	t.deepEqual(await refused({ tags: [{ name: 'a' }] }), ['tags.0.value: required'])
	const many = Array.from({ length: 51 }, () => ({ name: 'a', value: 'b' }))
	t.deepEqual(await refused({ tags: many }), ['tags: too_big'])
})

test('a member that other services use for one of ours is refused with the right name', async (t) => {
	const { send, refused, app, withSecretKey, withPublicKey } = await setupSend(t)
	const cases = {
		html: 'body',
		HtmlBody: 'body',
		html_body: 'body',
		plain_text: 'text',
		templateId: 'template',
		template_id: 'template',
		reply_to: 'reply',
		'reply-to': 'reply',
		ReplyTo: 'reply',
		Subject: 'subject',
		variables: 'data',
		from_name: 'from',
		subscribe: 'subscribed',
		sendAfter: 'delivery.at',
		metadata: 'tags',
		idempotencyKey: 'the header Idempotency-Key',
	}
	for (const [field, name] of Object.entries(cases)) {
		const response = await send({ [field]: 'x' })
		t.is(response.statusCode, 422)
		t.deepEqual(response.json().error.errors, [
			{ field, message: `is not known here: use ${name}`, code: 'unrecognized_keys' },
		])
	}
	t.deepEqual(await refused({ html: '<p>Hi</p>', body: undefined }), [
		'html: unrecognized_keys',
		'body: required',
		'template: custom',
	])
	t.is((await send({ html: null, somethingElse: 1 })).statusCode, 200)
	const inBatch = await app.inject({
		method: 'POST',
		url: '/v1/send/batch',
		headers: withSecretKey,
		payload: [{ to: 'a@a.org', from: 'app@example.com', subject: 'Hi', html: '<p>Hi</p>' }],
	})
	t.is(inBatch.json().error.errors[0].field, '0.html')
	const track = await app.inject({
		method: 'POST',
		url: '/v1/track',
		headers: withPublicKey,
		payload: { email: 'a@a.org', event: 'signup', properties: { a: 1 }, send_at: 'tomorrow' },
	})
	t.deepEqual(
		track.json().error.errors.map(({ field, message }: Record<string, string>) => [field, message]),
		[
			['properties', 'is not known here: use data'],
			['send_at', 'is not known here: use a workflow with a DELAY step'],
		],
	)
})

test('every other name on the page about sending is refused with the name that the page shows', async (t) => {
	const { send } = await setupSend(t)
	const [table] = /^\| you may know it as[^]*?\n\n/m.exec(await readPage('docs/sending.md'))!
	const rows = table.trim().split('\n').slice(2)
	t.is(rows.length, 16)
	for (const row of rows) {
		const [names, here] = row.split('|').slice(1, 3)
		const meant = [...here!.matchAll(/`(.+?)`/g)].map(([, name]) => name!)
		for (const [, name] of names!.matchAll(/`(.+?)`/g)) {
			const { errors } = (await send({ [name!]: 'x' })).json().error
			t.like(errors[0], { field: name, code: 'unrecognized_keys' })
			t.true(
				meant.some((one) => errors[0].message.endsWith(one)),
				`${name}: ${errors[0].message}`,
			)
		}
	}
})
