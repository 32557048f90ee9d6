import { randomBytes, randomUUID } from 'node:crypto'
import test from 'ava'
import { composeMessage } from '../mail/compose.ts'
import { trackHtml } from '../mail/tracked-links.ts'
import { readTracked, trackedUrls, trackingKey } from '../mail/tracked-urls.ts'
import { cpuMeter } from './helpers/cpu.ts'

const publicUrl = 'https://mail.example'
const key = trackingKey('a secret of the tests')
const scope = { projectId: randomUUID(), campaignId: null, emailId: randomUUID() }

/** The HTML with each rewritten link as `[target]`, and the pixel as `•`. */
const shown = (html: string) =>
	trackHtml(html, { click: (link) => `[${link}]`, open: 'pixel' }, publicUrl).replace(
		/<img src="pixel"[^>]*>/,
		'•',
	)

const parts = (url: string | null) => {
	const { pathname, searchParams } = new URL(url!)
	const [, , token, emailId] = pathname.split('/')
	return { token: token!, emailId: emailId!, link: searchParams.get('to') }
}

const links: [title: string, html: string, tracked: string][] = [
	['plain', '<a href="https://a.b/c">x</a>', '<a href="[https://a.b/c]">x</a>'],
	['upper case', '<A HREF="HTTP://A.B">x</A>', '<A HREF="[HTTP://A.B]">x</A>'],
	['single quotes', "<a class='x' href='http://a.b'>", `<a class='x' href="[http://a.b]">`],
	['no quotes', '<a href=http://a.b/c/>x', '<a href="[http://a.b/c/]">x'],
	['spaces and line breaks', '<a\n href =\t" http://a.b/\nc ">', '<a\n href =\t"[http://a.b/c]">'],
	['entities', '<a href="http://a.b?c=1&amp;d=&#50;">', '<a href="[http://a.b?c=1&d=2]">'],
	[
		'entities of ASCII characters',
		'<a href="https&colon;&sol;&sol;a.b&quest;c&equals;1&num;d&lowbar;e">',
		'<a href="[https://a.b?c=1#d_e]">',
	],
	['a fragment', '<a href="http://a.b/#c">', '<a href="[http://a.b/#c]">'],
	['area', '<map><area href="http://a.b"></map>', '<map><area href="[http://a.b]"></map>'],
	[
		'the first of two',
		'<a href="http://a.b" href="http://c.d">',
		'<a href="[http://a.b]" href="http://c.d">',
	],
	['a slash in between', '<a/href="http://a.b"/>', '<a/href="[http://a.b]"/>'],
	['a sign in a value', '<a title=">" href="http://a.b">', '<a title=">" href="[http://a.b]">'],
	[
		'a link in a title',
		`<a title='x href="http://c.d"' href="http://a.b">`,
		`<a title='x href="http://c.d"' href="[http://a.b]">`,
	],
	[
		'data-href',
		'<a data-href="http://c.d" href="http://a.b">',
		'<a data-href="http://c.d" href="[http://a.b]">',
	],
	[
		'Outlook',
		'<!--[if mso]><a href="http://a.b"><![endif]-->',
		'<!--[if mso]><a href="[http://a.b]"><![endif]-->',
	],
	['its buttons', '<v:roundrect href="http://a.b">', '<v:roundrect href="[http://a.b]">'],
	[
		'all but Outlook',
		'<!--[if !mso]><!--><a href="http://a.b"><!--<![endif]-->',
		'<!--[if !mso]><!--><a href="[http://a.b]"><!--<![endif]-->',
	],
]
for (const [title, html, tracked] of links)
	test(`a link is tracked: ${title}`, (t) => t.is(shown(html), `${tracked}•`))

const untouched: [title: string, html: string][] = [
	['mailto', '<a href="mailto:a@b.c">'],
	['data', '<a href="data:text/html,<a href=http://a.b>">'],
	['javascript', '<a href="javascript:location=\'http://a.b\'">'],
	['relative', '<a href="/c"><a href="//a.b/c"><a href="#d"><a href>'],
	['no address', '<a href="http://"><a href="http://a b/"><a href="https:a.b">'],
	['not the beginning', '<a href="x http://a.b">'],
	['a comment', '<!-- <a href="http://a.b"> -->'],
	['a comment of one line break', '<!--\n<a href="http://a.b">-->'],
	['an attribute', '<p title="<a href=\'http://a.b\'>">'],
	['text', '&lt;a href="http://a.b"&gt; 1 < 2 <3'],
	['a style', '<style>a { content: "<a href=http://a.b>" }</style>'],
	['a script', '<script>"<a href=http://a.b>"</script>'],
	['a title', '<title><a href="http://a.b"></title>'],
	['other elements', '<link href="http://a.b"><base href="http://a.b"><abbr href="http://a.b">'],
	['a closing tag', '</a href="http://a.b">'],
	['an open end', '<a href="http://a.b'],
	['unsubscribe', `<a href="${publicUrl}/unsubscribe/1?e=2">`],
	['subscribe and manage', `<a href="${publicUrl}/subscribe/1"><a href="${publicUrl}/manage/1">`],
]
for (const [title, html] of untouched)
	test(`a link that is not a web address is left unchanged: ${title}`, (t) =>
		t.is(shown(html), `${html}•`))

test('the pixel is at the end of the body, even in broken HTML', (t) => {
	t.is(shown('<body>a</BODY ></html>'), '<body>a•</BODY ></html>')
	t.is(shown('a</body>b</body>c'), 'a</body>b•</body>c')
	t.is(shown('</body><a href="http://a.b">c</a>'), '</body><a href="[http://a.b]">c</a>•')
	t.is(shown('<!-- </body> -->a'), '<!-- </body> -->a•')
	t.is(shown(''), '•')
})

test('nothing but the addresses of links changes, in any heap of markup', (t) => {
	const pieces =
		'<a |href=|"|\'|>|http://a.b|<!--|-->|<!--[if x]>|<![endif]-->|<style>|</style>|</body>| |\n|=|é|</a>|<area|&amp;'.split(
			'|',
		)
	for (let round = 0; round < 3000; round++) {
		const html = [...randomBytes(30)].map((byte) => pieces[byte % pieces.length]).join('')
		const tracked = trackHtml(html, { click: () => null, open: 'pixel' }, publicUrl)
		t.is(tracked.replace(/<img src="pixel"[^>]*>/, ''), html)
		// Rewritten parts are unchanged except for quotes.
		const same = trackHtml(html, { click: (link) => link, open: 'pixel' }, publicUrl)
		const bare = (text: string) => text.replaceAll(/["'\s]|&amp;|&/g, '')
		t.is(bare(same.replace(/<img src="pixel"[^>]*>/, '')), bare(html))
	}
})

test('hostile markup costs its length and no more', (t) => {
	const heaps = [
		'<a href=',
		'<a href="',
		'<!--[if',
		'<!--[if x',
		'<a x="',
		'<style>',
		'<a ' + ' '.repeat(9),
		'<a/',
		'<a href=\' "',
	]
	for (const heap of heaps) {
		const spentMs = cpuMeter()
		shown(heap.repeat(1_000_000 / heap.length))
		t.true(spentMs() < 3000, `${heap}: ${spentMs()} ms`)
	}
})

test('a tracked address is read back for any link, in exactly this form', (t) => {
	const urls = trackedUrls(key, publicUrl, scope)
	for (const link of [
		"https://ü.example/it's?a=%20&b=+#c",
		'http://a.b/\ud800',
		'http://a.b/?to=http://c.d',
	]) {
		const url = urls.click(link)!
		t.notRegex(url, /["'<>\s&]/)
		t.deepEqual(readTracked(key, parts(url)), { ...scope, link: link.toWellFormed() })
	}
	t.deepEqual(readTracked(key, parts(urls.open)), { ...scope, link: null })
})

test('a signature is valid for one key, project, mail, link and action', (t) => {
	const urls = trackedUrls(key, publicUrl, scope)
	const click = parts(urls.click('http://a.b'))
	const open = parts(urls.open)
	t.truthy(readTracked(key, click))
	const mac = Buffer.from(click.token, 'base64url').subarray(0, 16)
	const forged = [
		{ ...click, link: 'http://evil.example' },
		{ ...click, link: null },
		{ ...open, link: 'http://a.b' },
		{ ...open, link: '' },
		{ ...click, emailId: randomUUID() },
		{ ...click, emailId: 'x' },
		{ ...click, token: '' },
		{ ...click, token: click.token.slice(0, 20) },
		{ ...click, token: Buffer.concat([mac, randomBytes(16)]).toString('base64url') },
		{ ...click, token: open.token },
		{ ...click, token: 'x'.repeat(64) },
	]
	for (const address of forged) t.is(readTracked(key, address), null, JSON.stringify(address))
	t.is(readTracked(trackingKey('another secret of the tests'), click), null)
})

test("a campaign's addresses differ in the mail's id alone", (t) => {
	const campaign = { projectId: randomUUID(), campaignId: randomUUID() }
	const [first, second] = [randomUUID(), randomUUID()]
	const of = (emailId: string) => trackedUrls(key, publicUrl, { ...campaign, emailId })
	t.is(of(first).open.replace(first, second), of(second).open)
	t.is(of(first).click('http://a.b')!.replace(first, second), of(second).click('http://a.b')!)
	const read = readTracked(key, parts(of(second).click('http://a.b')))
	t.deepEqual(read, { ...campaign, emailId: second, link: 'http://a.b' })
	const other = parts(
		trackedUrls(key, publicUrl, { ...campaign, campaignId: randomUUID(), emailId: first }).open,
	)
	t.notDeepEqual(parts(of(first).open).token.slice(0, 22), other.token.slice(0, 22))
})

test('a link that would become too long for some readers stays as it is', (t) => {
	const urls = trackedUrls(key, publicUrl, scope)
	const long = `http://a.b/${'x'.repeat(1990)}`
	t.is(urls.click(long), null)
	t.is(trackHtml(`<a href="${long}">`, urls, publicUrl).indexOf(`<a href="${long}">`), 0)
	t.true(urls.click(long.slice(0, 1700))!.length <= 2000)
})

test('a composed mail leads its links through us, but for the text part and the ways out', (t) => {
	const contactId = randomUUID()
	const message = composeMessage(
		{
			...scope,
			contactId,
			from: { email: 'app@example.com', name: null },
			to: { email: 'ann@example.org', name: null },
			replyTo: null,
			subject: 'Hi',
			body: '<p><a href="https://a.b/c?d=1&amp;e=2">Look</a></p>',
			headers: null,
			language: 'de',
			type: 'MARKETING',
			createdAt: new Date(),
		},
		[],
		publicUrl,
		{ key, campaignId: null },
	)
	const hrefs = [...message.html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!)
	t.deepEqual(readTracked(key, parts(hrefs[0]!)), { ...scope, link: 'https://a.b/c?d=1&e=2' })
	t.deepEqual(hrefs.slice(1), [
		`${publicUrl}/unsubscribe/${contactId}?e=${scope.emailId}`,
		`${publicUrl}/manage/${contactId}?e=${scope.emailId}`,
	])
	const pixel = /<img src="([^"]*)"[^>]*><\/body>/.exec(message.html)![1]!
	t.deepEqual(readTracked(key, parts(pixel)), { ...scope, link: null })
	t.regex(message.text, /Look \(https:\/\/a\.b\/c\?d=1&e=2\)/)
	t.notRegex(message.text, /\/[co]\//)
})
