import test from 'ava'
import type { InjectOptions } from 'fastify'
import { createHash, randomBytes } from 'node:crypto'
import { trackingKey } from '../mail/tracked-urls.ts'
import { startApp } from './helpers/app.ts'
import { setupMailbox } from './helpers/mailbox.ts'
import { setupSend } from './helpers/send.ts'
import { longestStall } from './helpers/stall.ts'

const pdf = { filename: 'März.pdf', content: 'JVBERg==', contentType: 'application/pdf' }
const logo = {
	filename: 'logo.png',
	content: 'iVBORw==',
	contentType: 'image/png',
	disposition: 'inline',
	contentId: 'my logo',
}

test('a mail in the mailbox is read back as it would have been sent', async (t) => {
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
		cc: [],
		bcc: [],
		from: 'app@example.com',
		subject: 'Grüße 🎉',
		read: false,
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

test('mails are listed without their contents, by a part of an address or subject, page by page', async (t) => {
	const { land, get } = await setupMailbox(t)
	await land({ to: 'anna@example.org', subject: 'First 100%' })
	await land({ to: 'bob@example.org', subject: 'Second' })
	await land({ to: 'anna@example.org', subject: 'Third' })
	const list = async (query: string) => (await get(`/mailbox/summaries${query}`)).json()
	const subjects = async (query: string) =>
		((await list(query)).data as { subject: string }[]).map(({ subject }) => subject)
	t.deepEqual(await subjects(''), ['Third', 'Second', 'First 100%'])
	t.deepEqual(await subjects('?search=ANNA'), ['Third', 'First 100%'])
	t.deepEqual(await subjects('?search=ir'), ['Third', 'First 100%'])
	t.deepEqual(await subjects('?search=0%25'), ['First 100%'])
	t.deepEqual(await subjects('?search=_'), [])
	const first = await list('?limit=2')
	t.like(first, { hasMore: true, total: 3 })
	t.deepEqual(Object.keys(first.data[0]).toSorted(), [
		'emailId',
		'from',
		'id',
		'read',
		'receivedAt',
		'subject',
		'to',
	])
	t.deepEqual(await subjects(`?cursor=${first.cursor}`), ['First 100%'])
})

test('one mail is read back, says whether it is tracked, and stays unread', async (t) => {
	const tracking = { key: trackingKey('a secret'), campaignId: null }
	const { land, get, messages } = await setupMailbox(t, tracking)
	const { id } = await land({ body: '<p><a href="https://shop.example/">Shop</a></p>' })
	const answer = await get(`/mailbox/messages/${id}`)
	t.like(answer.json(), { id, read: false, opensTracked: true, clicksTracked: true })
	t.is(answer.headers['cache-control'], 'no-store')
	t.deepEqual(
		(await messages()).map(({ read }) => read),
		[false],
	)
	t.is((await get(`/mailbox/messages/${crypto.randomUUID()}`)).statusCode, 404)
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

test('each file of a mail has its own contents, whatever the text of the mail contains', async (t) => {
	const { land, get } = await setupMailbox(t)
	const part =
		'\r\n--=_mixed_1\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment\r\n\r\nJVBERg=='
	const named = (filename: string, content: string, more: object = {}) => ({
		filename,
		content: Buffer.from(content).toString('base64'),
		contentType: 'text/plain',
		...more,
	})
	const { id } = await land({
		body: `<pre>${part}</pre>`,
		text: part,
		attachments: [
			named('Content-Disposition: attachment', 'first'),
			named('note.txt', 'of the mail itself', { disposition: 'inline', contentId: 'note' }),
			logo,
			named('table.csv', part, { contentType: 'text/csv' }),
			{ ...pdf, filename: 'last.pdf' },
		],
	})
	const { attachments, text } = (await get(`/mailbox/messages/${id}`)).json()
	t.true(text.includes('--=_mixed_1'))
	const contents: Record<string, string> = {}
	for (const [position, { filename }] of attachments.entries())
		contents[filename] = (await get(`/mailbox/messages/${id}/attachments/${position}`)).body
	t.like(contents, {
		'Content-Disposition: attachment': 'first',
		'table.csv': part,
		'last.pdf': '%PDF',
	})
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

test('the page shows the list and the open mail in four views, without its script too', async (t) => {
	const { land, get } = await setupMailbox(t)
	t.true((await get('/mailbox')).body.includes('No mail yet'))
	const { id } = await land({ subject: 'First', body: '<p>one</p>', attachments: [pdf] })
	await land({ to: 'bob@example.org', subject: 'Second' })
	const page = async (query: string) => {
		const response = await get(`/mailbox${query}`)
		t.is(response.statusCode, 200)
		t.regex(String(response.headers['content-type']), /^text\/html/)
		t.notRegex(response.body, /javascript:|\son\w+=|undefined/i)
		return response.body
	}
	const list = await page('')
	t.true(list.includes('Second') && list.includes('First') && !list.includes('<h2'))
	t.true(list.includes('app@example.com <small>to</small> bob@example.org'))
	const open = await page(`?id=${id}`)
	t.true(open.includes('>First</h2>') && open.includes(`src="/mailbox/messages/${id}/html"`))
	t.true(open.includes('März.pdf'))
	t.true((await page(`?id=${id}&view=text`)).includes('<pre dir="auto">one'))
	t.true((await page(`?id=${id}&view=headers`)).includes('<th scope="row">X-Tempost-Id</th>'))
	t.true((await page(`?id=${id}&view=source`)).includes('Content-Type: multipart/mixed'))
	const found = await page('?search=BOB')
	t.true(found.includes('Second') && !found.includes('First'))
	t.true((await page('?search=app@example.com')).includes('Second'))
	t.true((await page('?search=%25')).includes('No mail matches'))
	t.true((await page(`?id=${crypto.randomUUID()}`)).includes('not in the mailbox any more'))
	t.is((await get('/mailbox?id=x')).statusCode, 400)
	t.is((await get('/mailbox?before=x')).statusCode, 400)
})

test('the page allows its own script and style and nothing else', async (t) => {
	const { get } = await setupMailbox(t)
	const { body, headers } = await get('/mailbox')
	const hashOf = (element: string) => {
		const [, code] = new RegExp(`<${element}>(.*?)</${element}>`, 's').exec(body)!
		return createHash('sha256').update(code!).digest('base64')
	}
	t.is(
		headers['content-security-policy'],
		`default-src 'none'; style-src 'sha256-${hashOf('style')}'; script-src 'sha256-${hashOf('script')}'; ` +
			"connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	)
	t.is(body.match(/<script/g)!.length, 1)
})

test('a mail is read or unread, and deleted by itself', async (t) => {
	const { land, messages, app, get } = await setupMailbox(t)
	const { id } = await land({ subject: 'First' })
	await land({ subject: 'Second' })
	const change = (method: 'PATCH' | 'DELETE', id: string, payload?: object) =>
		app.inject({ method, url: `/mailbox/messages/${id}`, ...(payload ? { payload } : {}) })
	for (const read of [true, true, false, true]) {
		t.is((await change('PATCH', id, { read })).statusCode, 204)
		const [second, first] = await messages()
		t.like(first, { read })
		t.like(second, { read: false })
	}
	t.is((await get('/mailbox')).body.match(/class="unread"/g)!.length, 1)
	t.is((await change('PATCH', id, {})).statusCode, 422)
	t.is((await change('DELETE', id)).statusCode, 204)
	t.deepEqual(
		(await messages()).map(({ subject }) => subject),
		['Second'],
	)
	for (const unknown of [id, 'x']) {
		t.is((await change('DELETE', unknown)).statusCode, 404)
		t.is((await change('PATCH', unknown, { read: true })).statusCode, 404)
	}
})

test('only the page itself and programs change the mailbox, no other page', async (t) => {
	const { land, app, messages } = await setupMailbox(t)
	const { id } = await land()
	const calls = [
		{ method: 'DELETE', url: '/mailbox/messages' },
		{ method: 'DELETE', url: `/mailbox/messages/${id}` },
		{ method: 'PATCH', url: `/mailbox/messages/${id}`, payload: { read: true } },
	] as const
	// A sandboxed mail sends the origin null; other servers of this machine are other origins.
	for (const origin of ['null', 'https://evil.example', 'http://localhost:5173'])
		for (const call of calls) {
			const headers = { host: 'localhost:3000', origin }
			const response = await app.inject({ ...call, headers })
			t.is(response.statusCode, 403, `${call.method} ${origin}`)
		}
	t.like(await messages(), { length: 1, 0: { read: false } })
	const headers = { host: 'localhost:3000', origin: 'http://localhost:3000' }
	t.is((await app.inject({ ...calls[1], headers })).statusCode, 204)
})

test('beyond a hundred mails the list continues with older ones', async (t) => {
	const { land, get, pool, messages } = await setupMailbox(t)
	await land({ subject: 'Newest' })
	await pool.query(
		`insert into mailbox_messages (id, project_id, email_id, "to", "from", subject, raw)
		select uuidv7(make_interval(secs => -number)), project_id, uuidv7(), "to", "from", 'Mail ' || number, raw
		from mailbox_messages, generate_series(1, 150) as number`,
	)
	const first = (await get('/mailbox')).body
	t.is(first.match(/<li id=/g)!.length, 100)
	t.true(first.includes('Mail 99<') && !first.includes('Mail 100<'))
	const older = /class="older" href="([^"]*)"/.exec(first)![1]!
	const second = (await get(older)).body
	t.is(second.match(/<li id=/g)!.length, 51)
	t.true(
		second.includes('Mail 100<') &&
			second.includes('Mail 150<') &&
			!second.includes('class="older"'),
	)
	const [last] = (await messages('?limit=100')).slice(-1)
	t.like(await messages(`?limit=1&before=${last!.id}`), { length: 1, 0: { subject: 'Mail 100' } })
})

test('a mail is shown without its tracking pixel until it is requested', async (t) => {
	const tracking = { key: trackingKey('a secret'), campaignId: null }
	const { land, get } = await setupMailbox(t, tracking)
	const { id } = await land({ body: '<p>See <a href="https://shop.example/">this</a></p>' })
	const frame = async (query: string) => (await get(`/mailbox/messages/${id}/html${query}`)).body
	t.notRegex(await frame(''), /\/o\//)
	t.regex(await frame(''), /href="http:\/\/localhost:3000\/c\//)
	t.regex(await frame('?pixel=true'), /<img src="http:\/\/localhost:3000\/o\//)
	const page = (await get(`/mailbox?id=${id}`)).body
	t.true(
		page.includes('Reading here does not count as an open.') && page.includes('counts a click.'),
	)
})

test('a mail that is not tracked says nothing of tracking', async (t) => {
	const { land, get } = await setupMailbox(t)
	const { id } = await land()
	t.notRegex((await get(`/mailbox?id=${id}`)).body, /counts (no|a)/)
})

test('contents of mails stay text on the page, and powerless in their frame', async (t) => {
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
		t.is(body.match(/<script/gi)!.length, 1)
		t.true(body.includes('&lt;script&gt;alert(&#39;1&#39;)'))
		t.true(body.includes(`<h2 dir="auto" tabindex="-1">&quot;&gt;&lt;script&gt;`))
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
	const paths = [
		'',
		'/messages',
		'/summaries',
		`/messages/${id}`,
		`/messages/${id}/raw`,
		`/messages/${id}/html`,
	]
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

test('the configuration says whether the mailbox answers its caller', async (t) => {
	const { app, orm } = await setupMailbox(t)
	const isOffered = async (of: typeof app, headers = {}) =>
		(await of.inject({ url: '/config', headers })).json().features.mailbox.enabled
	t.true(await isOffered(app))
	t.false(await isOffered(app, { host: 'mail.example' }))
	const { app: real } = await startApp(t, orm, { settings: { emailProvider: 'smtp' } })
	t.false(await isOffered(real))
})

test('with a provider that really sends there is no mailbox', async (t) => {
	const { orm } = await setupSend(t)
	const { app } = await startApp(t, orm, { settings: { emailProvider: 'smtp' } })
	t.is((await app.inject('/mailbox')).statusCode, 404)
	t.is((await app.inject('/mailbox/messages')).statusCode, 404)
})

// Serial: the work of other tests would count.
test.serial('a mail that is made to be slow to show holds up nothing else', async (t) => {
	const { land, get, pool } = await setupMailbox(t)
	const { id } = await land()
	const stalls: string[] = []
	async function measure(name: string, type: string, body: string, ...paths: string[]) {
		const raw = Buffer.from(`Content-Type: text/${type}\r\n\r\n${body}`)
		await pool.query('update mailbox_messages set raw = $1', [raw])
		for (const path of paths) {
			const read = async () => t.is((await get(path)).statusCode, 200)
			// The first reading may start a thread, and compiles code.
			await read()
			const stall = await longestStall(read)
			if (stall > 50) stalls.push(`${name}, ${path}: ${Math.round(stall)} ms`)
		}
	}
	const [page, mail, html] = [
		`/mailbox?id=${id}`,
		`/mailbox/messages/${id}`,
		`/mailbox/messages/${id}/html`,
	]
	for (const length of [30_000, 300_000]) {
		await measure('beginnings of URLs', 'html', 'http://'.repeat(length / 7), page, mail, html)
		await measure('beginnings of heads', 'html', '<head '.repeat(length / 6), html)
	}
	const signs = `${'<'.repeat(900)}\r\n`.repeat(3000)
	await measure('signs to escape', 'plain', signs, `${page}&view=text`, `${page}&view=source`)
	t.deepEqual(stalls, [])
})

test('a mail with a large file is read whole: its list, its source, its files and its body', async (t) => {
	const { land, get, messages, pool } = await setupMailbox(t)
	const content = randomBytes(3 * 2 ** 20)
	const { id } = await land({
		body: '<p>Hello</p><img src="cid:my%20logo">',
		attachments: [logo, { ...pdf, content: content.toString('base64') }],
	})
	const [message] = (await messages()) as unknown as { html: string; attachments: object[] }[]
	t.true(message!.html.includes('<p>Hello</p>'))
	t.like(message!.attachments, [{ filename: 'logo.png' }, { size: content.length }])
	const { rows } = await pool.query<{ raw: Buffer }>('select raw from mailbox_messages')
	const source = await get(`/mailbox/messages/${id}/raw`)
	t.is(source.headers['content-length'], `${rows[0]!.raw.length}`)
	t.true(source.rawPayload.equals(rows[0]!.raw))
	t.true((await get(`/mailbox/messages/${id}/attachments/1`)).rawPayload.equals(content))
	t.is((await get(`/mailbox/messages/${id}/attachments/2`)).statusCode, 404)
	t.true((await get(`/mailbox/messages/${id}/html`)).body.includes('src="data:image/png'))
	const page = await get(`/mailbox?id=${id}&view=source`)
	t.true(page.body.includes('3.0 MB') && page.body.includes('This is the beginning.'))
})

test('the page shows the beginning of a long text, and says so', async (t) => {
	const { land, get, pool } = await setupMailbox(t)
	const { id } = await land()
	const line = `${'x'.repeat(70)}\r\n`
	const raw = Buffer.from(`Content-Type: text/plain\r\n\r\n${line.repeat(5000)}`)
	await pool.query('update mailbox_messages set raw = $1', [raw])
	for (const view of ['text', 'source']) {
		const { body } = await get(`/mailbox?id=${id}&view=${view}`)
		t.true(body.includes('xxx') && body.length < 300_000)
		t.true(body.includes('This is the beginning. Download .eml has all of it.'))
	}
})

test('an inline image is shown several times, but a small mail never becomes a huge page', async (t) => {
	const { land, get } = await setupMailbox(t)
	const { id } = await land({
		body: '<img src="cid:my%20logo">'.repeat(500),
		attachments: [{ ...logo, content: 'QUJD'.repeat(4000) }],
	})
	const { body } = await get(`/mailbox/messages/${id}/html`)
	t.is(body.match(/src="data:image\/png/g)!.length, 8)
	t.is(body.match(/src="cid:my%20logo/g)!.length, 492)
})
