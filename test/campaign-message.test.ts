import { randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import PostalMime from 'postal-mime'
import {
	type CampaignContent,
	type CampaignRecipient,
	compileCampaign,
} from '../mail/campaign/campaign-message.ts'
import { buildMime } from '../mail/mime/mime.ts'
import { renderingTasks } from '../mail/rendering-tasks.ts'
import { trackingKey } from '../mail/tracked-urls.ts'

const publicUrl = 'https://app.example'

const content = (changes: Partial<CampaignContent> = {}): CampaignContent => ({
	campaignId: randomUUID(),
	projectId: randomUUID(),
	subject: 'News for {{ firstName }}',
	body: '<p>Hello {{ firstName }}</p>',
	from: { email: 'news@bücher.example', name: 'Büchernews' },
	replyTo: 'help@example.com',
	type: 'MARKETING',
	contentLanguage: 'en',
	language: 'de',
	trackingKey: trackingKey('a secret of the tests'),
	...changes,
})

const recipient = (data: Record<string, unknown> = {}): CampaignRecipient => ({
	emailId: randomUUID(),
	contactId: randomUUID(),
	to: 'ann@example.org',
	createdAt: new Date('2026-11-21T04:05:06.789Z'),
	email: 'ann@example.org',
	subscribed: true,
	data,
})

/** Whether the mail was assembled from a skeleton; asserts that it reads the same. */
async function isSpliced(
	t: { deepEqual(a: unknown, b: unknown, message?: string): unknown },
	campaign: ReturnType<typeof compileCampaign>,
	to: CampaignRecipient,
	about = '',
) {
	const { raw, ...wire } = campaign.wire(to)
	const { message, body: _, ...whole } = campaign.message(to)
	const expected = buildMime(message)
	const read = async (mime: Buffer) => {
		const { html, text, headers } = await PostalMime.parse(mime)
		return { html, text, headers }
	}
	t.deepEqual(wire, whole, about)
	t.deepEqual(await read(Buffer.from(raw, 'latin1')), await read(expected), about)
	return raw !== expected.toString('latin1')
}

test('a mail assembled from pieces reads exactly like one rendered whole', async (t) => {
	const campaign = compileCampaign(
		content({
			body: '<p>Hi {{ firstName }}, from {{ city }}!</p>{% if pro %}<b>Pro</b>{% endif %}<ul>{% for x in list %}<li>{{ x }}</li>{% endfor %}</ul><a href="https://shop.example/a?b=1&amp;c=2">Shop for {{ firstName }}</a> <a href="{{ unsubscribeUrl }}">go</a> {{ id }} {{ email }}',
		}),
		publicUrl,
	)
	const people = [
		{ firstName: 'Ann', city: 'Rome' },
		{ firstName: 'Zoë', city: "L'Aquila & more", pro: true, list: ['a', 'b'] },
		{ firstName: '', city: 5, locale: 'fr' },
		{ firstName: 'x'.repeat(300), city: 'ü'.repeat(100), list: [1, 2, 3] },
		{ firstName: '.', city: '...' },
		{ firstName: '=3D', city: '😀 Köln' },
	]
	for (const data of people)
		t.true(await isSpliced(t, campaign, recipient(data)), JSON.stringify(data))
})

test('a tracked link with something personal in it is signed for each mail, and still spliced', async (t) => {
	const body =
		'<p><a href="https://shop.example/{{ path }}?of={{ id }}&amp;as={{ name }}">Your shop</a></p>'
	const campaign = compileCampaign(content({ body }), publicUrl)
	for (const data of [
		{ path: 'a/b', name: 'ann' },
		{ path: 'ü', name: "O'Neil&Co" },
		{ path: 'x'.repeat(200) },
	])
		t.true(await isSpliced(t, campaign, recipient(data)), JSON.stringify(data))
	t.false(
		await isSpliced(t, campaign, recipient({ path: 'x'.repeat(2000), name: 'too long to be led' })),
	)
})

test('the postal address is in the footer of each mail, which is still spliced', async (t) => {
	const postalAddress = '<Shop> & Söhne\n1 High Street\nالقاهرة'
	const campaign = compileCampaign(content({ postalAddress }), publicUrl)
	t.false(await isSpliced(t, campaign, recipient({ firstName: 'a  b' })))
	t.true(await isSpliced(t, campaign, recipient({ firstName: 'Ann' })))
	const { message } = campaign.message(recipient())
	t.regex(message.html, /&lt;Shop&gt; &amp; Söhne<br>1 High Street<br>القاهرة/)
	t.regex(message.text, /<Shop> & Söhne\n1 High Street\nالقاهرة/)
	const transactional = compileCampaign(
		content({ postalAddress, type: 'TRANSACTIONAL' }),
		publicUrl,
	)
	t.notRegex(transactional.message(recipient()).message.html, /High Street/)
	const strange = compileCampaign(content({ postalAddress: 'A\ue0000\ue001' }), publicUrl)
	t.false(await isSpliced(t, strange, recipient({ firstName: 'Ann' })))
})

test('values that would be more than text are rendered whole, and read the same', async (t) => {
	const campaign = compileCampaign(
		content({
			body: '<p>Hello {{ name | raw }}, <a href="https://x.example/{{ path }}">look</a></p>',
		}),
		publicUrl,
	)
	for (const name of [
		'<b>Ann</b>',
		'&lt',
		'a  b',
		' a',
		'a\nb',
		'\u200bAnn',
		'A\ue0001\ue001',
		'<!-- ',
		'x\u034fy',
	])
		t.false(await isSpliced(t, campaign, recipient({ name })), name)
})

const fragments = [
	'<p>Hello {{ a }},</p>',
	'<p>{{ a }} {{ b }}</p>',
	'Dear {{a}}{{b}}!',
	'{{ a | upcase }}',
	'{{ b | raw }}',
	'<br>',
	'{% if a %}A {{ a }}{% else %}<p>none</p>{% endif %}',
	'{% for x in list %}<li>{{ x }} of {{ forloop.length }}</li>{% endfor %}',
	'<a href="https://example.com/{{ a }}">{{ b }}</a>',
	'<a href="https://example.com/one?x=1&amp;y=2">one</a>',
	'<a href="{{ url }}">Click</a>',
	'<a href="{{ url }}">{{ url }}</a>',
	'<a href="{{ unsubscribeUrl }}">bye</a>',
	'<a href="{{ a }}">x</a>',
	"<A HREF='https://example.com/?q={{ b }}&z=1'>two words</A>",
	'<img src="https://example.com/{{ a }}.png" alt="{{ b }} picture">',
	'<div style="color: {{ a }}">x</div>',
	'<p class="{{ b }}">y</p>',
	'<pre>  {{ a }}\n\tx</pre>',
	'<table><tr><td>{{ a }}</td><td>{{ b }}</td></tr></table>',
	'{{ list }}',
	'{{ nobody ?? "you" }}',
	'{% assign z = a | append: b %}{{ z }}',
	'{% capture z %}<i>{{ b }}</i>{% endcapture %}{{ z }}',
	'&{{ a }};',
	'<{{ a }}>',
	'<!-- {{ a }} -->',
	'<!--[if mso]><a href="https://example.com/{{ a }}">m</a><![endif]-->',
	'.\n.{{ a }}\n',
	'Grüße 😀 = é\n',
	'{{ manageUrl | append: "&x=1" }}',
	'{{ id }} {{ email }} {{ locale }} {{ subscribed }}',
	'{{ a | divided_by: 0 }}',
	'<style>p { color: {{ a }} }</style>',
	`<p>${'long words '.repeat(20)}{{ a }}</p>`,
	'<body>x</body>',
	'<a href="mailto:{{ email }}">write</a>',
	'<a href="https://example.com/{{ a }}">example.com/{{ a }}</a>',
	'{% tablerow x in list cols:2 %}{{ x }}{% endtablerow %}',
	'<p hidden>{{ b }}</p>',
	'<img alt="x {{ a }}" hidden>',
	'{% raw %}{{ a }}{% endraw %}',
	'<p title="{{ a }}">t</p>',
	'<a href="https://example.com/?c={{ id }}">of yours</a>',
	'<a href="https://example.com/?e={{ email }}">by address</a>',
	'<a href="https://example.com/?u={{ unsubscribeUrl }}">there and back</a>',
]
const values = [
	'Ann',
	'Ann Lee',
	'',
	"O'Neil",
	'Tom & Jerry',
	'<b>',
	'ünï',
	'😀',
	'a  b',
	' x',
	'x ',
	'class=',
	'hidden',
	'https://example.com/a',
	'https://app.example/unsubscribe/1',
	'x'.repeat(90),
	'ß'.repeat(80),
	'.',
	'..',
	'=',
	'?',
	5,
	0,
	false,
	true,
	null,
	[1, '<'],
	{ a: 1 },
	'a\nb',
	'\u200b',
	'lt',
	'display:none',
	'mailto:x@y.z',
	'{{ b }}',
	'--=_',
	'\ue0000\ue001',
	'%20',
	'A.B',
	'/',
]

test('any template reads the same for any contact, spliced or not', async (t) => {
	let seed = 7
	const random = (below: number) => {
		seed = (seed * 1103515245 + 12345) & 0x7fffffff
		return (seed >> 8) % below
	}
	const pick = <T>(list: T[]) => list[random(list.length)]!
	let spliced = 0
	for (let round = 0; round < 400; round++) {
		const body = Array.from({ length: 1 + random(6) }, () => pick(fragments)).join(
			pick(['', ' ', '\n']),
		)
		const campaign = compileCampaign(
			content({
				body,
				type: pick(['MARKETING', 'TRANSACTIONAL', 'HEADLESS']),
				trackingKey: pick([null, trackingKey('x')]),
				subject: pick(['Static', 'To {{ a }}', '{{ b }} grüßt {{ a }}']),
			}),
			publicUrl,
		)
		for (let i = 0; i < 6; i++) {
			const data = {
				a: pick(values),
				b: pick(values),
				url: pick(['https://example.com/x', 'https://a.example/?x=1&y=2', pick(values)]),
				list: pick([[], [1], ['a', 'b & c'], null]),
				locale: pick(['de', 'ar', 'fr', 'nonsense!', undefined]),
			}
			if (await isSpliced(t, campaign, recipient(data), `${body}\n${JSON.stringify(data)}`))
				spliced++
		}
	}
	t.true(spliced > 400, `${spliced} of 2400 were spliced`)
})

test('the footer uses the reader’s locale, else the project’s; the author’s text uses neither', (t) => {
	const campaign = compileCampaign(content({ contentLanguage: 'he', language: 'de' }), publicUrl)
	const languagesOf = (locale: unknown) => {
		const { html } = campaign.message(recipient({ locale })).message
		const values = [...html.matchAll(/ (?:lang|dir)="([^"]*)"/g)].map(([, value]) => value)
		return [...new Set(values)].join(' ')
	}
	for (const locale of ['german', ' de', 'de-', '', 7, undefined, 'de_AT'])
		t.is(languagesOf(locale), 'rtl he de ltr', String(locale))
	t.is(languagesOf('fr_CA'), 'rtl he fr ltr')
	t.is(languagesOf('ar'), 'rtl he en ltr')
})

test('every line of a spliced mail is ASCII, at most 76 characters long, and begins with no dot', (t) => {
	const campaign = compileCampaign(
		content({ body: `<p>{{ a }}.</p>\n.\n..x${'ü. '.repeat(60)}{{ a }}.` }),
		publicUrl,
	)
	for (const a of ['Ann', '.', 'ü'.repeat(70), '.'.repeat(200), 'a'.repeat(76)]) {
		const [head, ...rest] = campaign.wire(recipient({ a })).raw.split('\r\n\r\n')
		t.regex(head!, /^[\t\r\n -~]*$/)
		for (const line of rest.join('\r\n\r\n').split('\r\n')) t.regex(line, /^(?!\.)[\t -~]{0,76}$/)
	}
})

test('an address that would break out of its header is refused, not written', (t) => {
	const campaign = compileCampaign(content(), publicUrl)
	const to = 'ann@example.org\r\nBcc: all@example.org'
	t.throws(() => campaign.wire({ ...recipient({ firstName: 'Ann' }), to }))
})

test('the shapes of campaigns are kept within a limit of memory', (t) => {
	setFlagsFromString('--expose_gc')
	const collect = runInNewContext('gc') as () => void
	const used = () => {
		// The memory of buffers is freed by other threads, for which the next collection waits.
		collect()
		collect()
		const { heapUsed, external } = process.memoryUsage()
		return (heapUsed + external) / 2 ** 20
	}
	const before = used()
	const body = `<p>${'Ein Absatz für viele Leser. '.repeat(4000)}</p>`
	for (let sent = 0; sent < 12; sent++) {
		const campaign = content({ body })
		for (let reader = 0; reader < 40; reader++) {
			// Each locale is a shape of its own.
			const locale = `de-${String.fromCodePoint(97 + (reader % 26))}${reader < 26 ? 'a' : 'b'}`
			const to = recipient({ locale })
			const task = { content: campaign, publicUrl, recipient: to }
			const { raw } = renderingTasks.campaignWire(task)
			t.true(raw.includes(to.emailId))
		}
	}
	const growth = used() - before
	t.true(growth < 50, `${growth} MB`)
})
