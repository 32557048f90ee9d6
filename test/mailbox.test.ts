import test from 'ava'
import type { InjectOptions } from 'fastify'
import { mailboxOf } from '../activities/delivery/mailbox.ts'
import { localProvider } from '../activities/providers/local.ts'
import { composeMessage } from '../activities/rendering/compose.ts'
import type { Email } from '../db/emails/email.ts'
import { attachmentsOf } from '../db/emails/ledger.ts'
import { startApp } from './helpers/app.ts'
import { setupSend } from './helpers/send.ts'

type MailRow = Email & { contactId: string; replyTo: string | null; body: string }

/** What a worker with the local provider does with a mail, but for the ledger. */
async function setupMailbox(t: Parameters<typeof setupSend>[0]) {
	const all = await setupSend(t)
	const { app, pool, project, sent } = all
	const provider = localProvider({ store: mailboxOf(pool) })
	const get = (url: string, options: InjectOptions = {}) => app.inject({ url, ...options })
	const messages = async (query = '') => {
		const response = await get(`/mailbox/messages${query}`)
		t.is(response.statusCode, 200, response.body)
		return response.json().messages as { id: string; to: string; subject: string }[]
	}
	return {
		...all,
		get,
		messages,
		async land(changes: object = {}) {
			const mail = await sent(changes)
			const rows = await attachmentsOf(pool, [project.id, [mail.requestId]])
			const files = rows.map((row) => ({
				filename: row.filename,
				content: row.content,
				contentType: row.content_type,
				contentId: row.content_id,
				disposition: row.inline ? ('inline' as const) : ('attachment' as const),
			}))
			const message = composeMessage(
				Object.assign({}, mail as MailRow, {
					emailId: mail.id,
					from: { email: mail.from, name: mail.fromName ?? null },
					to: { email: mail.to, name: mail.toName ?? null },
				}),
				files,
				'http://localhost:3000',
			)
			await provider.deliver(message)
			const [landed] = await messages('?limit=1')
			return { mail, id: landed!.id, landAgain: () => provider.deliver(message) }
		},
	}
}

const pdf = { filename: 'März.pdf', content: 'JVBERg==', contentType: 'application/pdf' }
const logo = {
	filename: 'logo.png',
	content: 'iVBORw==',
	contentType: 'image/png',
	disposition: 'inline',
	contentId: 'my logo',
}

test('a mail that landed is read back as it would have gone out', async (t) => {
	const { land, messages } = await setupMailbox(t)
	const { mail, id } = await land({
		to: { email: 'anna@example.org', name: 'Änne' },
		subject: 'Grüße 🎉',
		body: '<p>Hallo <b>Änne</b></p>',
		headers: { 'X-Order': '5' },
		attachments: [pdf],
	})
	const [message, ...others] = (await messages()) as unknown as Record<string, unknown>[]
	const { html, text, headers, receivedAt, ...rest } = message!
	t.deepEqual(others, [])
	t.deepEqual(rest, {
		id,
		emailId: mail.id,
		to: 'anna@example.org',
		from: 'app@example.com',
		subject: 'Grüße 🎉',
		attachments: [{ filename: 'März.pdf', contentType: 'application/pdf', size: 4 }],
	})
	t.true((html as string).includes('<p>Hallo <b>Änne</b></p>'))
	t.is((text as string).trim(), 'Hallo Änne')
	t.like(headers as object, {
		From: 'Test project <app@example.com>',
		To: 'Änne <anna@example.org>',
		Subject: 'Grüße 🎉',
		'Message-ID': `<${mail.id}@example.com>`,
		'X-Tempost-Id': mail.id,
		'X-Order': '5',
	})
	t.is(new Date(receivedAt as string).toISOString(), receivedAt as string)
})

test('the newest come first, by address, by part of the subject, and as many as are wanted', async (t) => {
	const { land, messages, get } = await setupMailbox(t)
	await land({ to: 'anna@example.org', subject: 'First 100%' })
	await land({ to: 'bob@example.org', subject: 'Second' })
	await land({ to: 'anna@example.org', subject: 'Third' })
	const subjects = async (query: string) => (await messages(query)).map(({ subject }) => subject)
	t.deepEqual(await subjects(''), ['Third', 'Second', 'First 100%'])
	t.deepEqual(await subjects('?limit=2'), ['Third', 'Second'])
	t.deepEqual(await subjects('?limit=99999'), ['Third', 'Second', 'First 100%'])
	t.deepEqual(await subjects('?to=Anna@Example.org'), ['Third', 'First 100%'])
	t.deepEqual(await subjects('?to=anna'), [])
	t.deepEqual(await subjects('?subject=ir'), ['Third', 'First 100%'])
	t.deepEqual(await subjects('?subject=FIRST'), ['First 100%'])
	t.deepEqual(await subjects('?subject=0%25'), ['First 100%'])
	t.deepEqual(await subjects('?subject=_'), [])
	t.deepEqual(await subjects('?subject=ir&to=bob@example.org'), [])
	t.deepEqual(await subjects('?to=&subject='), ['Third', 'Second', 'First 100%'])
	t.is((await get('/mailbox/messages?limit=0')).statusCode, 400)
})

test('the source of a mail, and its files, can be saved', async (t) => {
	const { land, get } = await setupMailbox(t)
	const { mail, id } = await land({ attachments: [pdf] })
	const raw = await get(`/mailbox/messages/${id}/raw`)
	t.is(raw.headers['content-type'], 'message/rfc822')
	t.is(raw.headers['content-disposition'], `attachment; filename="${id}.eml"`)
	t.true(raw.body.includes(`\r\nX-Tempost-Id: ${mail.id}\r\n`))
	const file = await get(`/mailbox/messages/${id}/attachments/0`)
	t.is(file.body, '%PDF')
	t.is(file.headers['content-type'], 'application/octet-stream')
	t.is(file.headers['content-disposition'], "attachment; filename*=UTF-8''M%C3%A4rz.pdf")
	for (const path of [`${id}/attachments/1`, `${crypto.randomUUID()}/raw`, 'x/raw', 'x/html'])
		t.is((await get(`/mailbox/messages/${path}`)).statusCode, 404, path)
})

test('the mailbox can be emptied', async (t) => {
	const { land, app, messages } = await setupMailbox(t)
	await land()
	const response = await app.inject({ method: 'DELETE', url: '/mailbox/messages' })
	t.is(response.statusCode, 204)
	t.is(response.body, '')
	t.deepEqual(await messages(), [])
})

test('the same mail handed over twice lies there once', async (t) => {
	const { land, messages } = await setupMailbox(t)
	const { landAgain } = await land()
	t.like(await landAgain(), { kind: 'SENT' })
	t.is((await messages()).length, 1)
})

test('the page shows the list and the open mail in four views, without any script', async (t) => {
	const { land, get } = await setupMailbox(t)
	t.true((await get('/mailbox')).body.includes('No mail yet'))
	const { id } = await land({ subject: 'First', body: '<p>one</p>', attachments: [pdf] })
	await land({ to: 'bob@example.org', subject: 'Second' })
	const page = async (query: string) => {
		const response = await get(`/mailbox${query}`)
		t.is(response.statusCode, 200)
		t.regex(String(response.headers['content-type']), /^text\/html/)
		t.regex(String(response.headers['content-security-policy']), /script-src 'none'/)
		t.notRegex(response.body, /<script|javascript:|\son\w+=/i)
		return response.body
	}
	const newest = await page('')
	t.true(newest.includes('<h2>Second</h2>') && newest.includes('First'))
	t.true(newest.includes('http-equiv="refresh"'))
	const open = await page(`?id=${id}`)
	t.true(open.includes('<h2>First</h2>') && open.includes(`src="/mailbox/messages/${id}/html"`))
	t.true(open.includes('März.pdf') && !open.includes('http-equiv="refresh"'))
	t.true((await page(`?id=${id}&view=text`)).includes('<pre>one'))
	t.true((await page(`?id=${id}&view=headers`)).includes('<th scope="row">X-Tempost-Id</th>'))
	t.true((await page(`?id=${id}&view=source`)).includes('Content-Type: multipart/mixed'))
	const found = await page('?search=BOB')
	t.true(found.includes('Second') && !found.includes('First'))
	t.true((await page('?search=%25')).includes('No mail matches'))
	t.true((await page(`?id=${crypto.randomUUID()}`)).includes('not in the mailbox any more'))
	t.is((await get('/mailbox?id=x')).statusCode, 400)
})

test('what mails contain stays text on the page, and powerless in its frame', async (t) => {
	const { land, get } = await setupMailbox(t)
	const evil = `"><script>alert('1')</script>`
	const { id } = await land({
		to: { email: 'eve@example.org', name: evil },
		subject: evil,
		body: evil,
		headers: { 'X-Evil': evil },
		attachments: [{ ...pdf, filename: evil.replaceAll('"', "'") }],
	})
	for (const view of ['html', 'text', 'headers', 'source']) {
		const { body } = await get(`/mailbox?id=${id}&view=${view}&search=${encodeURIComponent(evil)}`)
		t.notRegex(body, /<script/i)
		t.true(body.includes('&lt;script&gt;alert(&#39;1&#39;)'))
		t.true(body.includes(`<h2>&quot;&gt;&lt;script&gt;`))
	}
	const frame = (await get(`/mailbox?id=${id}`)).body.match(/<iframe [^>]*>/)![0]
	t.regex(frame, / sandbox="allow-popups allow-popups-to-escape-sandbox"/)
	const mail = await get(`/mailbox/messages/${id}/html`)
	const policy = String(mail.headers['content-security-policy'])
	t.regex(policy, /^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';/)
	t.notRegex(policy, /script-src|allow-scripts|allow-same-origin/)
})

test("the frame shows the mail's own images, and opens links beside it", async (t) => {
	const { land, get } = await setupMailbox(t)
	const body = '<img src="cid:my%20logo"><img src="cid:other"><img src="cid:%zz">'
	const { id } = await land({ body, attachments: [logo] })
	const mail = await get(`/mailbox/messages/${id}/html`)
	t.is(mail.statusCode, 200)
	t.true(mail.body.includes('<img src="data:image/png;base64,iVBORw==">'))
	t.true(mail.body.includes('<img src="cid:other"><img src="cid:%zz">'))
	t.regex(mail.body, /^<!DOCTYPE html><html[^>]*><head><base target="_blank">/)
})

test('only this machine, under a local name and not through a proxy, sees the mailbox', async (t) => {
	const { land, app } = await setupMailbox(t)
	const { id } = await land()
	const local = { remoteAddress: '127.0.0.1', headers: { host: 'localhost:3000' } }
	const refused: InjectOptions[] = [
		{ ...local, remoteAddress: '192.168.1.5' },
		{ ...local, remoteAddress: '2001:db8::1' },
		{ ...local, remoteAddress: '::ffff:192.168.1.5' },
		{ ...local, headers: { host: 'evil.example' } },
		{ ...local, headers: { host: '127.0.0.1.evil.example' } },
		{ ...local, headers: { host: 'localhost.evil.example:3000' } },
		{ ...local, headers: { ...local.headers, 'x-forwarded-for': '192.168.1.5' } },
		{ ...local, headers: { ...local.headers, forwarded: 'for=192.168.1.5' } },
	]
	const paths = ['', '/messages', `/messages/${id}/raw`, `/messages/${id}/html`]
	for (const path of paths)
		for (const options of refused) {
			const response = await app.inject({ url: `/mailbox${path}`, ...options })
			t.is(response.statusCode, 404, JSON.stringify(options))
			t.is(response.json().error.code, 'RESOURCE_NOT_FOUND')
		}
	const deleted = { method: 'DELETE', url: '/mailbox/messages', ...refused[3] } as InjectOptions
	t.is((await app.inject(deleted)).statusCode, 404)
	for (const remoteAddress of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
		for (const host of ['localhost', 'LOCALHOST:3000', '127.0.0.1:3000', '[::1]:3000']) {
			const response = await app.inject({ url: '/mailbox', remoteAddress, headers: { host } })
			t.is(response.statusCode, 200, `${remoteAddress} ${host}`)
		}
})

test('with a provider that really sends there is no mailbox', async (t) => {
	const { orm } = await setupSend(t)
	const { app } = await startApp(t, orm, { settings: { emailProvider: 'smtp' } })
	t.is((await app.inject('/mailbox')).statusCode, 404)
	t.is((await app.inject('/mailbox/messages')).statusCode, 404)
})
