import test from 'ava'
import { type FieldError, nothing, setupSend } from './helpers/send.ts'

const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64')
const numbered = (count: number, value: string) =>
	Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, value]))
const file = { filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' }

test('every fault is reported with its field and code, and nothing is written', async (t) => {
	const { refused, written } = await setupSend(t)
	const long = 'x'.repeat(999)
	const cases: [object, string[]][] = [
		[{ to: undefined }, ['to: required']],
		[{ to: 5 }, ['to: invalid_union']],
		[{ to: null }, ['to: invalid_union']],
		[{ to: [] }, ['to: too_small']],
		[{ to: '' }, ['to: invalid_string']],
		[{ to: 'a@b.org, c@d.org' }, ['to: invalid_string']],
		[{ to: 'Anna <a@b.org>' }, ['to: invalid_string']],
		[{ to: `${'a'.repeat(64)}@${'b.'.repeat(100)}org` }, ['to: invalid_string']],
		[{ to: { name: 'Anna' } }, ['to.email: required']],
		[{ to: { email: 'x' } }, ['to.email: invalid_string']],
		[{ to: { email: 'a@b.org', name: 5 } }, ['to.name: invalid_type']],
		[{ to: { email: 'a@b.org', name: 'a\nb' } }, ['to.name: invalid_string']],
		[{ to: ['a@b.org', 'x'] }, ['to.1: invalid_string']],
		[{ to: ['a@b.org', { email: 'x' }] }, ['to.1.email: invalid_string']],
		[{ to: ['a@b.org', {}, 5] }, ['to.1.email: required', 'to.2: invalid_union']],
		[{ subject: undefined }, ['subject: required', 'template: custom']],
		[{ body: undefined }, ['body: required', 'template: custom']],
		[{ subject: '' }, ['subject: too_small']],
		[{ body: '' }, ['body: too_small']],
		[{ subject: long }, ['subject: too_big']],
		[{ subject: 'a\r\nBcc: b@c.org' }, ['subject: invalid_string']],
		[{ subject: 5 }, ['subject: invalid_type']],
		[{ template: 'welcome' }, ['template: invalid_string']],
		[{ from: undefined }, ['from: required']],
		[{ from: 'app' }, ['from: invalid_string']],
		[{ from: { email: 'app' } }, ['from.email: invalid_string']],
		[{ from: { name: 'App' } }, ['from.email: required']],
		[{ from: { email: 'a@example.com', name: 'a\rb' } }, ['from.name: invalid_string']],
		[{ name: 'a\nb' }, ['name: invalid_string']],
		[{ subscribed: 'yes' }, ['subscribed: invalid_type']],
		[{ reply: 'support' }, ['reply: invalid_string']],
		[{ data: [] }, ['data: invalid_type']],
		[{ data: 'x' }, ['data: invalid_type']],
		[{ data: { locale: 5 } }, ['data.locale: invalid_type']],
		[{ data: { ['k'.repeat(101)]: 1 } }, [`data.${'k'.repeat(101)}: too_big`]],
		[{ data: { big: 'x'.repeat(64 * 1024) } }, ['data: too_big']],
		[{ headers: [] }, ['headers: invalid_type']],
		[{ headers: { 'X-A': 5 } }, ['headers.X-A: invalid_type']],
		[{ headers: { 'X-A': 'a\r\nb' } }, ['headers.X-A: invalid_string']],
		[{ headers: { 'X-A\n': 'a' } }, ['headers.X-A\n: invalid_string']],
		[{ headers: { 'X-A': long } }, ['headers.X-A: too_big']],
		[{ headers: numbered(51, 'x') }, ['headers: too_big']],
		[{ headers: numbered(50, '漢'.repeat(990)) }, ['headers: too_big']],
		[{ headers: { 'message-ID': '<a@b>' } }, ['headers.message-ID: custom']],
		[{ attachments: {} }, ['attachments: invalid_type']],
		[{ attachments: [{ ...file, filename: 'a"b' }] }, ['attachments.0.filename: invalid_string']],
		[{ attachments: [file, { ...file, content: 'a' }] }, ['attachments.1.content: invalid_string']],
	]
	for (const [changes, expected] of cases)
		t.deepEqual(await refused(changes), expected, JSON.stringify(changes).slice(0, 200))
	t.deepEqual(await written(), nothing)
})

test('faults of the schema and other faults come in one answer', async (t) => {
	const { send, refused } = await setupSend(t)
	const bad = {
		to: ['a@b.org', 'x'],
		from: undefined,
		subject: 'Hi {{ name',
		body: undefined,
		reply: 5,
		data: { locale: 5 },
		headers: { Bcc: 'x' },
		attachments: [{ ...file, content: '?', disposition: 'inline' }],
	}
	t.deepEqual(await refused(bad), [
		'to.1: invalid_string',
		'reply: invalid_type',
		'body: required',
		'template: custom',
		'from: required',
		'subject: template_syntax',
		'data.locale: invalid_type',
		'headers.Bcc: custom',
		'attachments.0.content: invalid_string',
		'attachments.0.contentId: required',
	])
	const { error } = (await send(bad)).json()
	t.is(error.code, 'VALIDATION_ERROR')
	t.is(error.message, 'to.1 must be an email address (and 9 more)')
	for (const { message } of error.errors as FieldError[]) t.regex(message, /^[a-z]/)
	t.is(error.errors[0].received, 'x')
})

test('the error for an empty or non-object body names the fault', async (t) => {
	const { post } = await setupSend(t)
	const errorsOf = async (payload: object | string) =>
		(await post(payload)).json().error.errors.map(({ field, code }: FieldError) => [field, code])
	t.deepEqual(await errorsOf('[]'), [['', 'invalid_type']])
	t.deepEqual(await errorsOf({}), [
		['to', 'required'],
		['subject', 'required'],
		['body', 'required'],
		['template', 'custom'],
		['from', 'required'],
	])
})

test('null for an optional member counts as absent, wherever it is', async (t) => {
	const { sent } = await setupSend(t)
	const optional = ['template', 'name', 'subscribed', 'data', 'headers', 'reply'] as const
	const mail = await sent({
		...Object.fromEntries(optional.map((name) => [name, null])),
		to: [{ email: 'a@b.org', name: null }],
		from: { email: 'app@example.com', name: null },
		attachments: [{ ...file, contentId: null, disposition: null }],
	})
	t.like(mail, { templateId: null, replyTo: null, toName: null, headers: {} })
	t.is((await sent({ attachments: null })).attachments, null)
})

test('every refusal of a body suggests what to do', async (t) => {
	const { send } = await setupSend(t)
	const suggestions = []
	for (const changes of [
		{ to: undefined },
		{ subject: undefined },
		{ from: 'app' },
		{ reply: 'x' },
		{ data: [] },
		{ body: '{{ name' },
		{ headers: { Bcc: 'x' } },
		{ attachments: [{ ...file, content: '?' }] },
	]) {
		const { error } = (await send(changes)).json()
		t.regex(error.suggestion, /^[A-Z].*\.$/, JSON.stringify(changes))
		suggestions.push(error.suggestion)
	}
	t.is(new Set(suggestions).size, suggestions.length)
})

test('members that are not known are ignored and kept nowhere', async (t) => {
	const { sent } = await setupSend(t)
	const mail = await sent({ tracking: true, attachments: [{ ...file, extra: 'x', size: 99 }] })
	t.deepEqual(mail.attachments as unknown, [
		{ filename: 'a.txt', contentType: 'text/plain', size: 1 },
	])
})

test('the longest that is allowed is taken', async (t) => {
	const { send, sent } = await setupSend(t)
	const headers = { 'X-A': 'v'.repeat(998), 'list-unsubscribe': '<https://a.org>', Precedence: 'x' }
	const mail = await sent({ subject: 's'.repeat(998), body: 'b', headers })
	t.is(mail.subject?.length, 998)
	t.deepEqual(mail.headers, headers)
	const to = Array.from({ length: 1000 }, (_, i) => `to-${i}@a.org`)
	const response = await send({ to })
	t.is(response.json().data.emails.length, 1000)
	t.is((await send({ to: [...to, 'one@too.many'] })).statusCode, 422)
})

test('a template that cannot be read is 422 with line and column', async (t) => {
	const { send, createTemplate, written } = await setupSend(t)
	const { id: template } = await createTemplate({ body: 'a\n{{ b | nope }}' })
	const cases: [object, string, RegExp][] = [
		[{ subject: 'Hi {{ name' }, 'subject', /^cannot be read: .*\(line 1, column 4\)$/],
		[{ body: '<p>\n {% if x %}' }, 'body', /^cannot be read: .*\(line 2, column 2\)$/],
		[{ body: '{% include "x" %}' }, 'body', /not available here \(line 1, column 1\)$/],
		[{ body: undefined, template }, 'template', /^has a body that .*\(line 2, column 1\)$/],
	]
	for (const [changes, field, message] of cases) {
		const response = await send(changes)
		t.is(response.statusCode, 422)
		const [error] = response.json().error.errors
		t.is(error.field, field)
		t.is(error.code, 'template_syntax')
		t.regex(error.message, message)
	}
	t.deepEqual(await written(), nothing)
	t.is((await send({ body: 'own', template })).statusCode, 200)
})

test('a fault in rendering prints nothing, is recorded on the mail, and stops no send', async (t) => {
	const { sent } = await setupSend(t)
	const mail = await sent({
		to: ['a@a.org', 'b@a.org'],
		subject: 'S{{ (1..999999999) }}',
		body: 'a\n{{ (1..999999999) }}b',
	})
	t.is(mail.status, 'PENDING')
	t.is(mail.subject, 'S')
	t.is(mail.body, 'a\nb')
	t.regex(mail.renderFault!, /^In the subject, line 1: .*\. In the body, line 2: /)
})

test('files lie with the request in their order, their mails know names, types and sizes', async (t) => {
	const { send, mails, pool } = await setupSend(t)
	const attachments = [
		{ ...file, filename: 'bücher, ’25.txt', content: Buffer.from('größe').toString('base64') },
		{ ...file, contentType: 'text/csv; charset=utf-8', content: 'YWJj\r\n ZGU=\n' },
		{ ...file, contentType: 'image/png', disposition: 'inline', contentId: 'logo 1' },
		{ ...file, disposition: 'attachment', contentId: 'unused' },
	]
	await send({ to: ['a@a.org', 'b@a.org'], attachments })
	const [first, second] = await mails()
	t.deepEqual(first!.attachments, [
		{ filename: 'bücher, ’25.txt', contentType: 'text/plain', size: 7 },
		{ filename: 'a.txt', contentType: 'text/csv; charset=utf-8', size: 5 },
		{ filename: 'a.txt', contentType: 'image/png', size: 1 },
		{ filename: 'a.txt', contentType: 'text/plain', size: 1 },
	])
	t.deepEqual(second!.attachments, first!.attachments)
	const { rows } = await pool.query(
		`select request_id, convert_from(content, 'utf8') as content, content_id, inline
		from attachments order by position`,
	)
	t.deepEqual(
		rows.map(({ content, content_id, inline }) => [content, content_id, inline]),
		[
			['größe', null, false],
			['abcde', null, false],
			['a', 'logo 1', true],
			['a', 'unused', false],
		],
	)
	for (const { request_id } of rows) t.is(request_id, first!.requestId)
})

test('an attachment must have a plain name, a type, and content that is base64', async (t) => {
	const { refused } = await setupSend(t)
	const cases: [object, string][] = [
		[{ filename: undefined }, 'filename: required'],
		[{ filename: '' }, 'filename: too_small'],
		[{ filename: 'x'.repeat(256) }, 'filename: too_big'],
		[{ filename: 'a\nb' }, 'filename: invalid_string'],
		[{ content: undefined }, 'content: required'],
		[{ content: '' }, 'content: too_small'],
		[{ content: ' \n' }, 'content: too_small'],
		[{ content: 'YQ' }, 'content: invalid_string'],
		[{ content: 'YQ=' }, 'content: invalid_string'],
		[{ content: 'Y===' }, 'content: invalid_string'],
		[{ content: 'YQ==YQ==' }, 'content: invalid_string'],
		[{ content: 'a-_a' }, 'content: invalid_string'],
		[{ content: 'data:text/plain;base64,YQ==' }, 'content: invalid_string'],
		[{ contentType: undefined }, 'contentType: required'],
		[{ contentType: '' }, 'contentType: too_small'],
		[{ contentType: `text/${'x'.repeat(251)}` }, 'contentType: too_big'],
		[{ contentType: 'text/plain\r\nX-A: b' }, 'contentType: invalid_string'],
		[{ contentId: '<logo>' }, 'contentId: invalid_string'],
		[{ contentId: 'lo\ngo' }, 'contentId: invalid_string'],
		[{ disposition: 'inline' }, 'contentId: required'],
		[{ disposition: 'shown' }, 'disposition: invalid_enum_value'],
	]
	for (const [changes, expected] of cases)
		t.deepEqual(
			await refused({ attachments: [{ ...file, ...changes }] }),
			[`attachments.0.${expected}`],
			JSON.stringify(changes),
		)
})

test('at most 10 files and 10 MB together, or as many as the settings say', async (t) => {
	const { send, refused } = await setupSend(t)
	const files = (count: number, content = file.content) =>
		Array.from({ length: count }, () => ({ ...file, content }))
	t.is((await send({ attachments: files(10) })).statusCode, 200)
	t.deepEqual(await refused({ attachments: files(11) }), ['attachments: too_big'])
	const limit = 10 * 2 ** 20
	const [half, more] = [base64(limit / 2), base64(limit / 2 + 1)]
	t.is((await send({ attachments: files(2, half) })).statusCode, 200)
	const tooMuch = [...files(1, half), ...files(1, more)]
	t.deepEqual(await refused({ attachments: tooMuch }), ['attachments: too_big'])
	const generous = { settings: { attachmentsMaxCount: 1, attachmentsMaxMb: 0.001 } }
	const small = await setupSend(t, generous)
	t.deepEqual(await small.refused({ attachments: files(2) }), ['attachments: too_big'])
	t.deepEqual(await small.refused({ attachments: files(1, base64(1100)) }), [
		'attachments: too_big',
	])
})

test('a message of more than 40 MB is refused', async (t) => {
	const { refused, written } = await setupSend(t, { settings: { attachmentsMaxMb: 40 } })
	const attachments = [{ ...file, content: base64(31 * 2 ** 20) }]
	t.deepEqual(await refused({ attachments }), ['attachments: too_big'])
	t.deepEqual(await written(), nothing)
})

test('mails of one request that would fill the memory are refused', async (t) => {
	const { refused, written } = await setupSend(t)
	const to = Array.from({ length: 200 }, (_, i) => `to-${i}@a.org`)
	t.deepEqual(await refused({ to, body: 'x'.repeat(2 ** 20) }), ['to: too_big'])
	t.deepEqual(await written(), nothing)
})

test('a Reply-To is refused unless it consists of addresses', async (t) => {
	const { send, refused, mails } = await setupSend(t)
	const large = { body: 'x'.repeat(2 ** 20 + 1) }
	for (const value of [
		'Support <noreply>',
		'<@example.com>',
		'A <a b@example.com>',
		'A <a@>',
		'noreply',
		'',
		'a@example.com, noreply',
		'a@example.com; b@example.com',
		'jörg@example.com',
		'a@example.com,'.repeat(21),
	])
		for (const name of ['Reply-To', 'reply-to'])
			t.deepEqual(await refused({ headers: { [name]: value } }), [
				`headers.${name}: invalid_string`,
			])
	const headers = { 'Reply-To': 'Support <noreply>' }
	t.deepEqual(await refused({ ...large, headers }), ['headers.Reply-To: invalid_string'])
	t.deepEqual(await mails(), [])
	for (const value of [
		'Support <help@example.com>',
		'help@example.com',
		'Jörg <j@exämple.com>',
		'Doe, Jane <j@example.com>, help@example.com',
		'a@example.com,'.repeat(20),
	])
		t.is((await send({ headers: { 'Reply-To': value } })).statusCode, 200)
})
