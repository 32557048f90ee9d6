import { createHash, randomUUID } from 'node:crypto'
import test from 'ava'
import { Contact } from '../db/contacts/contact.ts'
import { Project } from '../db/projects/project.ts'
import { startApp, viaProxy } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'
import { oneClick, setupPublic, textOf, untouched } from './helpers/public-pages.ts'

const pages = ['unsubscribe', 'subscribe', 'manage']

test('looking changes nothing, however it is done', async (t) => {
	const { app, id, emailId, state } = await setupPublic(t)
	for (const page of pages)
		for (const method of ['GET', 'HEAD', 'OPTIONS'] as const)
			for (const query of ['', `?e=${emailId}`, '?choice=none&List-Unsubscribe=One-Click'])
				await app.inject({ method, url: `/${page}/${id}${query}` })
	t.deepEqual(await state(), untouched)
})

test('unsubscribing shows a confirmation and a way back', async (t) => {
	const { get, post, id, emailId, state } = await setupPublic(t)
	const asked = await get(`/unsubscribe/${id}?e=${emailId}`)
	t.is(asked.statusCode, 200)
	t.regex(
		textOf(asked.body),
		/Unsubscribe anna@example\.org from the newsletters of Test project\?/,
	)
	const action = /<form action="\.\.([^"]*)" method="post"><button>Unsubscribe</.exec(
		asked.body,
	)![1]!

	const done = await post(action)
	t.is(done.statusCode, 200)
	t.regex(textOf(done.body), /You are unsubscribed/)
	t.deepEqual(await state(), {
		subscribed: false,
		events: ['contact.unsubscribed by mail'],
		suppressed: [],
		unsubscribedBy: [emailId],
	})
	t.regex(textOf((await get(action)).body), /You are unsubscribed/)

	const back = /<form action="\.\.([^"]*)"/.exec(done.body)![1]!
	t.is(back, `/subscribe/${id}?e=${emailId}`)
	t.regex(
		textOf((await get(back)).body),
		/Subscribe anna@example\.org to the newsletters of Test project\?/,
	)
	t.regex(textOf((await post(back)).body), /You are subscribed/)
	t.like(await state(), {
		subscribed: true,
		events: ['contact.unsubscribed by mail', 'contact.subscribed by mail'],
		// This mail did cause it.
		unsubscribedBy: [emailId],
	})
	t.regex(textOf((await get(back)).body), /You are subscribed/)
})

test('one click is enough for a mail program, in any form that it may take', async (t) => {
	const { post, submit, id, state } = await setupPublic(t)
	const boundary = '-----x'
	const multipart = {
		headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
		payload: `--${boundary}\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`,
	}
	for (const request of [oneClick, multipart]) {
		const answer = await post(`/unsubscribe/${id}`, request)
		t.is(answer.statusCode, 200)
		t.is(answer.headers['content-type'], 'text/plain; charset=utf-8')
		t.like(await state(), { subscribed: false })
		await submit(`/subscribe/${id}`, {})
	}
	for (const unknown of [randomUUID(), 'nobody', "'"]) {
		const answer = await post(`/unsubscribe/${unknown}`, oneClick)
		t.is(answer.statusCode, 200, unknown)
		t.is(answer.headers['content-type'], 'text/plain; charset=utf-8')
	}
})

test('an unsubscribe link accepts any POST', async (t) => {
	const { post, submit, id, state } = await setupPublic(t)
	const bodies = [
		{ headers: { 'content-type': 'application/json' }, payload: '{"broken' },
		{ headers: { 'content-type': 'text/plain' }, payload: 'please' },
		{ headers: { 'content-type': 'multipart/form-data' }, payload: 'x' },
		{ headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload: '%ff%zz' },
		{},
	]
	for (const body of bodies) {
		const answer = await post(`/unsubscribe/${id}`, body)
		t.is(answer.statusCode, 200, JSON.stringify(body))
		t.regex(textOf(answer.body), /You are unsubscribed/)
		t.like(await state(), { subscribed: false })
		await submit(`/subscribe/${id}`, {})
	}
	const huge = await post(`/unsubscribe/${id}`, { ...oneClick, payload: 'x'.repeat(20_000) })
	t.is(huge.statusCode, 413)
	t.regex(String(huge.headers['content-type']), /^text\/html/)
})

test('there are three preferences, and the current one is shown', async (t) => {
	const { get, submit, id, emailId, state, pool, project } = await setupPublic(t)
	const chosen = (html: string) =>
		/<input type="radio" name="choice" checked="" value="(\w+)"/.exec(html)![1]
	const url = `/manage/${id}?e=${emailId}`
	t.is(chosen((await get(url)).body), 'all')
	for (const choice of ['necessary', 'none', 'all', 'none', 'necessary', 'none']) {
		const saved = await submit(url, { choice })
		t.is(saved.statusCode, 200)
		t.is(chosen(saved.body), choice)
		t.regex(textOf(saved.body), /Your choice is saved\./)
		t.is(chosen((await get(url)).body), choice)
		t.like(await state(), {
			subscribed: choice === 'all',
			suppressed: choice === 'none' ? ['UNSUBSCRIBED_ALL'] : [],
		})
	}
	for (const fields of [{ choice: 'everything' }, {}] as Record<string, string>[]) {
		const before = await state()
		const same = await submit(url, fields)
		t.is(chosen(same.body), 'none')
		t.notRegex(textOf(same.body), /saved/)
		t.deepEqual(await state(), before)
	}

	// Only subscribing lifts the stop of all mail, and it lifts nothing else, such as bounces of the address.
	await submit(`/unsubscribe/${id}`, {})
	t.deepEqual((await state()).suppressed, ['UNSUBSCRIBED_ALL'])
	await submit(`/subscribe/${id}?e=${emailId}`, {})
	t.deepEqual((await state()).suppressed, [])
	await pool.query(
		`insert into suppressions (project_id, email, reason) values ($1, 'anna@example.org', 'BOUNCE')`,
		[project.id],
	)
	for (const choice of ['none', 'all']) {
		await submit(url, { choice })
		t.deepEqual((await state()).suppressed, ['BOUNCE'])
	}
})

test('after "no emails at all" every page says so, and offers the way back', async (t) => {
	const { get, post, submit, id, emailId, state } = await setupPublic(t)
	const query = `?e=${emailId}`
	const saved = await submit(`/manage/${id}${query}`, { choice: 'none' })
	t.regex(textOf(saved.body), /Your choice is saved\. anna@example\.org gets no emails at all/)
	for (const page of [
		await get(`/unsubscribe/${id}${query}`),
		await post(`/unsubscribe/${id}${query}`),
	]) {
		t.regex(textOf(page.body), /anna@example\.org gets no emails at all from Test project/)
		t.notRegex(page.body, /newsletters/)
		t.true(page.body.includes(`<form action="../subscribe/${id}?e=${emailId}"`))
		t.true(page.body.includes(`href="../manage/${id}?e=${emailId}"`))
	}
	const stranger = await get(`/unsubscribe/${id}`)
	t.regex(textOf(stranger.body), /gets no emails at all/)
	t.notRegex(stranger.body, /<form/)
	t.regex(textOf((await post(`/subscribe/${id}${query}`)).body), /You are subscribed/)
	t.like(await state(), { subscribed: true, suppressed: [] })
})

test('pages name the sender as the mail did, and never by a default name', async (t) => {
	const { get, post, sent, orm, project, id, emailId } = await setupPublic(t)
	const senderOn = (body: string) => /<p class="sender">([^<]*)</.exec(body)![1]
	const named = await sent({ from: { email: 'app@example.com', name: 'Anna & Co' } })
	const rename = (name: string) => orm.em.fork().nativeUpdate(Project, { id: project.id }, { name })
	t.is(senderOn((await get(`/manage/${id}?e=${named.id}`)).body), 'Anna &amp; Co')
	t.is(senderOn((await post(`/unsubscribe/${id}?e=${named.id}`)).body), 'Anna &amp; Co')
	t.is(senderOn((await get(`/manage/${id}`)).body), 'Test project')
	// A mail to another contact doesn't determine the name.
	const foreign = await sent({
		to: 'bob@example.org',
		from: { email: 'a@example.com', name: 'Bob' },
	})
	t.is(senderOn((await get(`/manage/${id}?e=${foreign.id}`)).body), 'Test project')

	await rename('First project')
	t.is(senderOn((await get(`/manage/${id}`)).body), 'example.com')
	const plain = await sent({})
	t.is(plain.fromName, 'First project')
	t.is(senderOn((await get(`/manage/${id}?e=${plain.id}`)).body), 'app@example.com')
	await rename('Shop')
	t.is(senderOn((await get(`/manage/${id}?e=${plain.id}`)).body), 'Shop')
	t.is(senderOn((await get(`/manage/${id}?e=${emailId}`)).body), 'Test project')
})

test('colours do not depend on features of new browsers', async (t) => {
	const { get, id } = await setupPublic(t)
	const { body } = await get(`/manage/${id}`)
	t.notRegex(body, /light-dark|color-mix/)
	t.regex(body, /prefers-color-scheme: dark/)
})

const greetings = {
	en: 'You are unsubscribed',
	de: 'Sie sind abgemeldet',
	fr: 'Vous êtes désabonné(e)',
	es: 'Se ha dado de baja',
	nl: 'U bent uitgeschreven',
}
const tongues: [locale: unknown, project: string, spoken: keyof typeof greetings][] = [
	['de', 'en', 'de'],
	['fr-CA', 'en', 'fr'],
	['es_MX', 'de', 'es'],
	['NL', 'de', 'nl'],
	[undefined, 'fr', 'fr'],
	['', 'nl-BE', 'nl'],
	['"><script>', 'es', 'es'],
	['ja', 'de', 'en'],
	['toString', 'constructor', 'en'],
]
test("pages speak the contact's language, else the project's", async (t) => {
	const { post, get, orm, project, id } = await setupPublic(t)
	for (const [locale, language, spoken] of tongues) {
		const em = orm.em.fork()
		await em.nativeUpdate(Contact, { id }, { data: locale === undefined ? {} : { locale } })
		await em.nativeUpdate(Project, { id: project.id }, { language })
		const { body } = await post(`/unsubscribe/${id}`)
		t.true(textOf(body).includes(greetings[spoken]), `${String(locale)} ${language}`)
		t.true(body.includes(`<html lang="${spoken}">`))
		for (const page of pages) {
			const { body } = await get(`/${page}/${id}`)
			t.true(body.includes(`<html lang="${spoken}">`))
			t.notRegex(textOf(body), /\{|undefined/)
		}
	}
})

const accepted: [header: string | undefined, language: string][] = [
	[undefined, 'en'],
	['ja, de;q=0.5, fr;q=0.9', 'fr'],
	['nl-BE,en;q=0.1', 'nl'],
	['es;q=0', 'en'],
	[';q=,;;, constructor', 'en'],
]
test('an unknown contact gets a friendly page in the language of the browser', async (t) => {
	const { get, post, pool, project, id } = await setupPublic(t)
	for (const [header, language] of accepted) {
		const headers = header === undefined ? {} : { 'accept-language': header }
		const answer = await get(`/manage/${randomUUID()}`, headers)
		t.is(answer.statusCode, 404)
		t.regex(String(answer.headers['content-type']), /^text\/html/)
		t.true(answer.body.includes(`<html lang="${language}">`), header)
	}
	for (const page of pages)
		for (const unknown of [randomUUID(), 'x', `${id}x`, '..%2Fdocs']) {
			t.is((await get(`/${page}/${unknown}`)).statusCode, 404)
			t.is((await post(`/${page}/${unknown}`)).statusCode, 404)
		}
	// Nor a contact whose data is being removed.
	await pool.query('update projects set deleted_at = now() where id = $1', [project.id])
	for (const page of pages) t.is((await get(`/${page}/${id}`)).statusCode, 404)
})

test('a page runs no script, loads nothing, is in no index, and shows names as they are', async (t) => {
	const { get, orm, project, id } = await setupPublic(t)
	const name = `<script>alert("1")</script> & {email} 'Sons'`
	await orm.em.fork().nativeUpdate(Project, { id: project.id }, { name })
	for (const page of pages) {
		const { body, headers } = await get(`/${page}/${id}?e="><script>`)
		const style = /<style>(.*?)<\/style>/s.exec(body)![1]!
		const hash = createHash('sha256').update(style).digest('base64')
		t.is(
			headers['content-security-policy'],
			`default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
		)
		t.is(headers['x-robots-tag'], 'noindex, nofollow')
		t.is(headers['referrer-policy'], 'no-referrer')
		t.is(headers['cache-control'], 'no-store')
		t.notRegex(body, /<script|<link|<img|\son\w+=|style="|\?e=/)
		t.true(body.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; {email}'))
		t.regex(body, /^<!DOCTYPE html><html lang="en"><head><meta charSet="utf-8"\/>/)
	}
})

test('readers of a locked contact keep nobody else waiting, and all of them are heard', async (t) => {
	const { app, get, post, id, pool, sent, withSecretKey, state } = await setupPublic(t)
	const { contactId: other } = await sent({ to: 'other@example.org', subscribed: true })
	const holder = await pool.connect()
	t.teardown(() => holder.release(true))
	await holder.query('begin')
	await holder.query('select from contacts where id = $1 for update', [id])
	const waiting = Array.from({ length: 15 }, () => post(`/unsubscribe/${id}`, oneClick))
	await lockWaits(t, pool, 1)
	const began = performance.now()
	t.is((await app.inject({ url: '/contacts', headers: withSecretKey })).statusCode, 200)
	t.is((await get(`/manage/${id}`)).statusCode, 200)
	t.is((await post(`/unsubscribe/${other}`, oneClick)).statusCode, 200)
	const ms = performance.now() - began
	t.true(ms < 3000, `${ms} ms`)
	t.true((await state()).subscribed)
	await holder.query('rollback')
	for (const { statusCode } of await Promise.all(waiting)) t.is(statusCode, 200)
	t.false((await state()).subscribed)
})

test('while the database is away the page says so, and when to come back', async (t) => {
	const { orm, id, state } = await setupPublic(t)
	const distant = await viaProxy(t, orm)
	const { app } = await startApp(t, distant.orm)
	distant.cut()
	const headers = { 'accept-language': 'de' }
	for (const request of [
		{ url: `/manage/${id}`, headers },
		{ method: 'POST' as const, url: `/unsubscribe/${id}`, ...oneClick },
	]) {
		const answer = await app.inject(request)
		t.is(answer.statusCode, 503)
		t.is(answer.headers['retry-after'], '2')
		t.regex(String(answer.headers['content-type']), /^text\/html/)
	}
	const { body } = await app.inject({ url: `/manage/${id}`, headers })
	t.regex(textOf(body), /Bitte versuchen Sie es gleich noch einmal/)
	t.deepEqual(await state(), untouched)
})
