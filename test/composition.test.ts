import test from 'ava'
import { composeMessage } from '../mail/compose.ts'
import type { Mail } from '../mail/compose.ts'
import { dataProblems, splitData } from '../db/contacts/contact-data.ts'
import { footerFor, insertFooter } from '../mail/footer.ts'
import { isDesigned, wrap } from '../mail/layout.ts'
import { compile, render } from '../mail/liquid/liquid.ts'
import { linksFor, variablesFor } from '../mail/liquid/variables.ts'

const contact = {
	id: 'c1',
	email: 'ann@ex.com',
	subscribed: true,
	data: { plan: 'pro', locale: 'de' },
}

test('one-off values win over stored ones, ours win over both', (t) => {
	const links = linksFor('https://x.y/', 'c1', 'e1')
	const once = { plan: 'free', code: 9, email: 'no', subscribed: 'no', manageUrl: 'no' }
	const all = variablesFor(contact, links, once, { event: { a: 1 } })
	const source =
		'{{ plan }} {{ data.plan }} {{ data.code }} {{ email }} {{ subscribed }} {{ locale }} {{ event.a }} {{ manageUrl }}'
	t.is(
		render(compile(source, 'subject'), all).text,
		'free free 9 ann@ex.com true de 1 https://x.y/manage/c1?e=e1',
	)
	t.is(links.unsubscribeUrl, 'https://x.y/unsubscribe/c1?e=e1')
	t.is(linksFor('https://x.y', 'c1').subscribeUrl, 'https://x.y/subscribe/c1')
})

test('contact data is stored, removed, ignored or used once according to the rules', (t) => {
	const kept = { text: 'a', zero: 0, no: false, list: [1], object: { a: 1 } }
	const reserved = { id: 1, service_id: 1, service_email: 1, email: 1, unsubscribeUrl: 1 }
	const data = {
		...kept,
		...reserved,
		subscribeUrl: 1,
		manageUrl: { value: 1, persistent: false },
		gone: null,
		empty: '',
		once: { value: 1, persistent: false },
		kept: { value: 2, persistent: true },
		keptNothing: { value: null, persistent: true },
		keptEmpty: { value: '', persistent: true },
		lookalike: { value: 1, persistent: 'no' },
	}
	t.deepEqual(splitData(data), {
		stored: { ...kept, kept: 2, lookalike: { value: 1, persistent: 'no' } },
		removed: ['gone', 'keptNothing'],
		once: { once: 1 },
	})
})

test('no key of contact data reaches a prototype', (t) => {
	const data = JSON.parse(
		'{"__proto__":{"bad":1},"constructor":"c","toString":{"value":1,"persistent":false}}',
	)
	const { stored, once } = splitData(data)
	t.is(Object.getPrototypeOf(stored), Object.prototype)
	t.is((stored as { bad?: unknown }).bad, undefined)
	t.true(Object.hasOwn(stored, 'constructor') && Object.hasOwn(once, 'toString'))
})

test('text that can’t be stored is refused by field', (t) => {
	const codes = (data: unknown) =>
		dataProblems(data).map(({ field, code, message }) => {
			t.regex(message, /^must /)
			return `${field} ${code}`
		})
	t.deepEqual(codes([]), ['data invalid_type'])
	t.deepEqual(codes({ '': 1, ['k'.repeat(101)]: 1 }), [
		'data. too_small',
		`data.${'k'.repeat(101)} too_big`,
	])
	t.deepEqual(codes({ locale: 5 }), ['data.locale invalid_type'])
	t.deepEqual(codes({ a: { b: ['x\0'] }, c: '\ud800' }), [
		'data.a invalid_string',
		'data.c invalid_string',
	])
	t.deepEqual(codes({ big: 'x'.repeat(64 * 1024) }), ['data too_big'])
	t.deepEqual(codes({ deep: JSON.parse('['.repeat(60) + ']'.repeat(60)) }), ['data.deep too_big'])
	t.deepEqual(codes({ locale: null, ['k'.repeat(100)]: 'x'.repeat(60_000), id: 5 }), [])
})

test('designed bodies are left alone, simple ones get our layout in their language', (t) => {
	const designed = [
		'<!DOCTYPE html><p>',
		'<table><tr>',
		'<STYLE>',
		'<p style="a">',
		'<p id=x class=y>',
		'<body>',
	]
	for (const html of designed) t.true(isDesigned(html), html)
	for (const html of ['plain', '<p>my style = x</p>', '<tablet>', 'a < b class="c"'])
		t.false(isDesigned(html))
	const page = wrap('<p>Hallo $& @</p>', 'de-AT')
	t.true(page.startsWith('<!DOCTYPE html><html dir="ltr" lang="de-AT">'))
	t.true(page.includes('<p>Hallo $& @</p>') && page.endsWith('</body></html>'))
	t.false(page.includes('lang="en"'))
	t.regex(page, /max-width:600px/)
	t.regex(page, /prefers-color-scheme: dark/)
	t.regex(wrap('x', 'he'), /<html dir="rtl" lang="he">/)
})

test('the footer has the language of its reader and is before the last </body>', (t) => {
	const links = linksFor('https://x.y', 'c1', 'e1')
	t.regex(footerFor('de-AT', links), /Abmelden/)
	t.regex(footerFor('fr', links), /Se désabonner/)
	t.regex(footerFor('es', links), /Darse de baja/)
	t.regex(footerFor('nl', links), /Uitschrijven/)
	t.regex(footerFor('pt-BR', links), /Unsubscribe/)
	t.true(footerFor('en', links).includes(`href="${links.unsubscribeUrl}"`))
	t.true(footerFor('en', links).includes(`href="${links.manageUrl}"`))
	t.is(insertFooter('</body>x</BODY ></html>', 'F'), '</body>xF</BODY ></html>')
	t.is(insertFooter('<table>', 'F'), '<table>F')
})

test('the footer is never in a comment or a script', (t) => {
	const tail = '</body></html>\n<!-- from layout.html, ends with </body> -->'
	t.is(insertFooter(`<body>x${tail}`, 'F'), `<body>xF${tail}`)
	const style = '<style>/* </body> */</style>'
	t.is(insertFooter(`<p>x${style}`, 'F'), `<p>x${style}F`)
	t.is(
		insertFooter('<!--[if mso]></body><![endif]--><p>x', 'F'),
		'<!--[if mso]></body><![endif]--><p>xF',
	)
	t.is(insertFooter('<p>1 < 2</p></body', 'F'), '<p>1 < 2</p>F</body')
})

const mail: Mail = {
	emailId: 'e1',
	projectId: 'p1',
	contactId: 'c1',
	from: { email: 'shop@bücher.example', name: 'Shop' },
	to: { email: 'ann@ex.com', name: null },
	replyTo: null,
	subject: 'Hi',
	body: '<p>Hello</p>',
	headers: {},
	language: 'de',
	type: 'TRANSACTIONAL',
	createdAt: new Date(0),
}
const compose = (changes: Partial<Mail>) =>
	composeMessage({ ...mail, ...changes }, [], 'https://x.y')

test('a composed mail is the same every time', (t) => {
	t.deepEqual(compose({}), compose({}))
	t.is(compose({}).messageId, '<e1@xn--bcher-kva.example>')
	t.is(compose({}).text, 'Hello')
})

test('transactional mail has no footer, and the List-Unsubscribe pair only with the link', (t) => {
	t.deepEqual(compose({}).headers, {})
	t.false(compose({}).html.includes('unsubscribe'))
	const linked = compose({ body: '<a href="https://x.y/manage/c1">m</a>', type: 'HEADLESS' })
	t.deepEqual(linked.headers, {
		'List-Unsubscribe': '<https://x.y/unsubscribe/c1?e=e1>',
		'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
	})
	t.deepEqual(compose({ body: 'https://x.y/unsubscribe/c2' }).headers, {})
})

test('marketing mail has footer, pair and bulk headers; campaigns have the bulk headers', (t) => {
	const bulk = ['Auto-Submitted', 'Precedence', 'X-Auto-Response-Suppress']
	const marketing = compose({ type: 'MARKETING' })
	t.regex(marketing.html, /Abmelden<\/a>.*<\/body><\/html>$/s)
	t.regex(marketing.text, /Abmelden \(https:\/\/x.y\/unsubscribe\/c1\?e=e1\)/)
	t.deepEqual(
		Object.keys(marketing.headers).sort(),
		['List-Unsubscribe', 'List-Unsubscribe-Post', ...bulk].sort(),
	)
	t.deepEqual(Object.keys(compose({ isCampaign: true }).headers).sort(), bulk)
	const toNobody = compose({ type: 'MARKETING', contactId: null })
	t.deepEqual(Object.keys(toNobody.headers).sort(), bulk, 'nobody could be unsubscribed')
})

test('a reader’s language applies to our own words, not to the author’s', (t) => {
	const { html } = compose({ type: 'MARKETING', contentLanguage: 'en', language: 'ar' })
	t.regex(html, /<html dir="ltr" lang="en">/)
	t.notRegex(html, /rtl/)
	const hebrew = compose({ type: 'MARKETING', contentLanguage: 'he', language: 'nl' }).html
	t.regex(hebrew, /<html dir="rtl" lang="he">.*<div lang="nl" dir="ltr"[^>]*>.*Uitschrijven/s)
})

test('custom headers replace ours regardless of case', (t) => {
	const headers = { precedence: 'list', 'LIST-UNSUBSCRIBE': '<mailto:u@ex.com>', 'X-A': '1' }
	t.deepEqual(compose({ type: 'MARKETING', headers }).headers, {
		'LIST-UNSUBSCRIBE': '<mailto:u@ex.com>',
		precedence: 'list',
		'Auto-Submitted': 'auto-generated',
		'X-Auto-Response-Suppress': 'All',
		'X-A': '1',
	})
})
