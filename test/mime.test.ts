import test from 'ava'
import PostalMime from 'postal-mime'
import { headerProblems, protectedHeaders } from '../mail/mime/headers.ts'
import type { Attachment, Message } from '../mail/message.ts'
import { buildMime } from '../mail/mime/mime.ts'
import { cpuMeter } from './helpers/cpu.ts'

const message: Message = {
	emailId: '0199a7b4-1111-7000-8000-000000000001',
	projectId: 'p1',
	messageId: '<0199a7b4-1111-7000-8000-000000000001@ex.com>',
	from: { email: 'shop@ex.com', name: 'Shop' },
	to: { email: 'ann@ex.com', name: null },
	replyTo: null,
	subject: 'Hi',
	html: '<p>Hello</p>',
	text: 'Hello',
	headers: {},
	attachments: [],
	date: new Date('2026-11-21T04:05:06.789Z'),
}
const file: Attachment = {
	filename: 'a.pdf',
	content: Buffer.from('content'),
	contentType: 'application/pdf',
	contentId: null,
	disposition: 'attachment',
}
const build = (changes: Partial<Message>) => buildMime({ ...message, ...changes })
const source = (changes: Partial<Message>) => build(changes).toString('latin1')
const parse = (changes: Partial<Message>) => PostalMime.parse(build(changes))
const lines = (text = '') => text.replaceAll(/\r\n|\r/g, '\n').replace(/\n+$/, '')

test('a mail has text and html as alternatives, text first', async (t) => {
	const mail = await parse({ html: '<p>Grüße 😀</p>', text: 'Grüße 😀' })
	t.is(lines(mail.html), '<p>Grüße 😀</p>')
	t.is(lines(mail.text), 'Grüße 😀')
	t.regex(source({}), /^Content-Type: multipart\/alternative;.*text\/plain.*text\/html/ms)
	t.notRegex(source({}), /multipart\/(?:mixed|related)/)
})

test('the headers name the mail, its people and its time', (t) => {
	const head = source({}).split('\r\n\r\n')[0]!.split('\r\n')
	t.deepEqual(head.slice(0, 8), [
		'From: Shop <shop@ex.com>',
		'To: ann@ex.com',
		'Reply-To: shop@ex.com',
		'Subject: Hi',
		'Date: Sat, 21 Nov 2026 04:05:06 +0000',
		'Message-ID: <0199a7b4-1111-7000-8000-000000000001@ex.com>',
		'X-Tempost-Id: 0199a7b4-1111-7000-8000-000000000001',
		'MIME-Version: 1.0',
	])
	t.regex(source({ replyTo: 'help@ex.com' }), /^Reply-To: help@ex\.com\r$/m)
})

test('the same message gives the same bytes', (t) => {
	t.deepEqual(build({ attachments: [file] }), build({ attachments: [file] }))
})

test('inline images are related to the html, other files are mixed around it', async (t) => {
	const image = { ...file, filename: 'l.png', contentType: 'image/png', contentId: 'logo' }
	const attachments: Attachment[] = [{ ...image, disposition: 'inline' }, file]
	t.regex(source({ attachments }), /multipart\/mixed.*multipart\/alternative.*multipart\/related/s)
	const mail = await parse({ attachments })
	t.deepEqual(
		mail.attachments.map((part) => [
			part.filename,
			part.mimeType,
			part.disposition,
			part.contentId,
		]),
		[
			['l.png', 'image/png', 'inline', '<logo>'],
			['a.pdf', 'application/pdf', 'attachment', undefined],
		],
	)
})

test('binary content of every length arrives as it left', async (t) => {
	for (const length of [0, 1, 2, 56, 57, 58, 114, 1000]) {
		const content = Buffer.from(Array.from({ length }, (_, i) => (i * 7) % 256))
		const mail = await parse({ attachments: [{ ...file, content }] })
		t.deepEqual(Buffer.from(mail.attachments[0]!.content as ArrayBuffer), content)
	}
	const long = source({ attachments: [{ ...file, content: Buffer.alloc(300) }] })
	t.regex(long, /\r\n[A-Za-z0-9+/]{76}\r\n/)
	t.notRegex(long, /[A-Za-z0-9+/]{77}/)
})

test('an invalid or multipart media type is sent as a plain file', async (t) => {
	for (const contentType of ['nonsense', 'message/rfc822', 'multipart/mixed; boundary=x']) {
		const mail = await parse({ attachments: [{ ...file, contentType }] })
		t.is(mail.attachments[0]!.mimeType, 'application/octet-stream')
	}
})

test('custom headers replace ours, the protected ones never', (t) => {
	const changed = source({
		headers: { date: 'Mon, 1 Jan 2024 00:00:00 +0000', 'REPLY-TO': 'r@ex.com' },
	})
	t.is(changed.match(/^date:/gim)?.length, 1)
	t.is(changed.match(/^reply-to:.*$/gim)?.join(), 'REPLY-TO: r@ex.com')
	for (const name of protectedHeaders)
		t.throws(() => build({ headers: { [name.toUpperCase()]: 'x' } }))
	const named = source({ headers: { 'Reply-To': '"Jörg" <j@ex.com>' } })
	t.regex(named, /^Reply-To: =\?UTF-8\?[BQ]\?[^?]+\?= <j@ex\.com>\r$/m)
})

test('no value of any kind breaks out of its header', (t) => {
	for (const bad of ['a\r\nBcc: x@y.z', 'a\nb', 'a\rb', 'a\0b']) {
		const changes: Partial<Message>[] = [
			{ subject: bad },
			{ from: { email: 'a@ex.com', name: bad } },
			{ to: { email: `${bad}@ex.com`, name: null } },
			{ to: { email: 'a@ex.com', name: bad } },
			{ replyTo: `${bad}@ex.com` },
			{ messageId: bad },
			{ emailId: bad },
			{ headers: { 'X-A': bad } },
			{ headers: { [bad]: 'x' } },
			{ headers: { 'Reply-To': `${bad} <a@ex.com>` } },
			{ attachments: [{ ...file, filename: bad }] },
			{ attachments: [{ ...file, contentType: bad }] },
			{ attachments: [{ ...file, contentId: bad }] },
		]
		for (const change of changes) t.throws(() => build(change), undefined, JSON.stringify(change))
	}
	for (const email of ['a@b.c>,<d@e.f', 'a b@c.d', 'none', '@c.d']) {
		t.throws(() => build({ to: { email, name: null } }), undefined, email)
	}
})

test('international domains are sent as DNS knows them, local parts as they are', (t) => {
	t.regex(
		source({ to: { email: 'a@bücher.example', name: null } }),
		/^To: a@xn--bcher-kva\.example\r$/m,
	)
	t.true(build({ to: { email: 'jörg@ex.com', name: null } }).includes('To: jörg@ex.com\r\n'))
})

test('quoted-printable keeps every line short, every space and every break', async (t) => {
	const text =
		'a \nb\t\r\n\r\nx=y\rlast \n.dot\nFrom me\n' + 'é'.repeat(200) + 'x'.repeat(200) + ' '
	const mail = await parse({ text, html: text })
	t.is(lines(mail.text), lines(text))
	t.notRegex(source({ text }), /[ \t]\r\n(?!boundary)/)
	t.true(
		source({ text })
			.split('\r\n')
			.every((line) => line.length <= 76),
	)
	// A code point is never split between two lines.
	t.notRegex(source({ text }), /=C3=\r\n/)
})

test('a long subject is folded, and too long a word is encoded', async (t) => {
	for (const subject of [
		'word '.repeat(199).trim(),
		'x'.repeat(998),
		'ü'.repeat(998),
		'=?UTF-8?Q?x?= b',
	]) {
		t.is((await parse({ subject })).subject, subject)
		t.true(
			source({ subject })
				.split('\r\n')
				.every((line) => line.length <= 76),
		)
	}
})

test('a header with a structure keeps it: it is folded, never encoded', (t) => {
	const url = `<https://example.org/u?id=${'x'.repeat(900)}>`
	const headers = {
		'List-Unsubscribe': ' <mailto:u@example.org>,  <https://example.org/u?id=1> ',
		References: `<a@b>\t<c@d>`,
		'List-Help': url,
		[`List-${'h'.repeat(200)}`]: url,
		'X-Note': 'two  spaces',
	}
	const raw = source({ headers })
	t.true(raw.split('\r\n').every((line) => line.length <= 998))
	const unfolded = raw.replaceAll('\r\n ', ' ')
	const valueOf = (name: string) => new RegExp(`^${name}: +(.*)\r`, 'm').exec(unfolded)?.[1]
	t.is(valueOf('List-Unsubscribe'), '<mailto:u@example.org>, <https://example.org/u?id=1>')
	t.is(valueOf('References'), '<a@b> <c@d>')
	t.is(valueOf('List-Help'), url)
	t.is(valueOf(`List-${'h'.repeat(200)}`), url)
	t.regex(valueOf('X-Note')!, /^=\?UTF-8\?/)
})

test('text that only looks encoded is not decoded', (t) => {
	const filename = '=?UTF-8?Q?x?='
	t.regex(source({ attachments: [{ ...file, filename }] }), /filename\*=UTF-8''%3D%3FUTF-8/)
})

test('random names, subjects, file names, headers and bodies arrive as they left', async (t) => {
	const random = randomText(20_261_121)
	for (let i = 0; i < 200; i++) {
		const [subject, from, to, filename] = [random(200), random(40), random(60), `${random(120)}.x`]
		const [html, text] = [random(300, bodySigns), random(300, bodySigns)]
		const sent: Partial<Message> = {
			subject,
			html,
			text,
			from: { email: 'a@ex.com', name: from },
			to: { email: 'b@ex.com', name: to },
			headers: { 'X-Custom': random(100) },
			attachments: [{ ...file, filename, content: Buffer.from(html) }],
		}
		const raw = source(sent)
		t.notRegex(raw, /[^\r]\n|\r[^\n]|[^\0-\x7f]/)
		t.true(raw.split('\r\n').every((line) => line.length <= 998))
		const mail = await parse(sent)
		t.is(mail.subject ?? '', subject)
		t.is(mail.from?.name ?? '', from.trim())
		t.is(mail.to?.[0]?.name ?? '', to.trim())
		t.is(lines(mail.html), lines(html))
		t.is(lines(mail.text), lines(text))
		t.is(mail.attachments[0]?.filename, filename)
	}
})

test('custom headers are checked by name and value', (t) => {
	const code = (name: string, value: unknown = 'x') => headerProblems({ [name]: value })[0]?.code
	t.is(code('X-Fine', 'y'.repeat(998)), undefined)
	t.is(code('List-Unsubscribe', '<https://x.y>'), undefined)
	t.is(code('X-A', 'y'.repeat(999)), 'too_big')
	t.is(code('X-A', 'a\nb'), 'invalid_string')
	t.is(code('X-A', 5), 'invalid_type')
	for (const name of ['X A', 'X:', 'X\r\nY', 'Ü', '(x)']) t.is(code(name), 'invalid_string')
	t.is(code(''), 'too_small')
	for (const name of protectedHeaders) t.is(code(name.toUpperCase()), 'custom')
	t.like(headerProblems({ Bcc: 'x' })[0], {
		field: 'headers.Bcc',
		message: 'cannot be set by a custom header',
	})
})

test('10 MB of attachments and hostile text are encoded in a moment', (t) => {
	const spentMs = cpuMeter()
	build({ attachments: [{ ...file, content: Buffer.alloc(10_000_000, 7) }], text: 'é'.repeat(1e6) })
	t.true(spentMs() < 2000, `${spentMs()} ms`)
})

const signs = [
	...'abZ0 "\'\\=?_.,;:<>@()é漢字ü-%&\u0301\u00a0ا'.split(''),
	'😀',
	'👨‍👩‍👧',
	'word ',
	'a longer piece ',
]
const bodySigns = [...signs, '\n', '\r\n', '.\n', '\n.', ' \n', '\t', '=\n', '\nFrom x']

function randomText(seed: number) {
	const next = (limit: number) => {
		seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
		return (seed >> 8) % limit
	}
	return (maxLength: number, from = signs) =>
		Array.from({ length: next(maxLength) }, () => from[next(from.length)]).join('')
}
