import test from 'ava'
import { createProject } from './helpers/app.ts'
import { openCampaigns } from './helpers/campaigns.ts'
import { link, setupEngagements } from './helpers/engagements.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { setupMails } from './helpers/mails.ts'

interface Parts {
	subject: string
	html: string
	text: string
	headers: { name: string; value: string }[]
}

const header = ({ headers }: Parts, name: string) =>
	headers.find((each) => each.name === name)?.value

test('the parts of a mail are those that its reader gets', async (t) => {
	const { ask, sent } = await setupMails(t)
	const { id } = await sent({
		to: { email: 'anna@example.org', name: 'Anna' },
		subject: 'Hello {{ name }}',
		body: '<p>Dear {{ name }}, <a href="https://example.com/a?b=c">look</a></p>',
		text: 'Dear {{ name }}',
		headers: { 'X-Order': '17' },
		reply: 'help@example.com',
	})
	const answer = await ask(`/emails/${id}/parts`)
	t.is(answer.statusCode, 200, answer.body)
	const parts = answer.json<Parts>()
	t.is(parts.subject, 'Hello Anna')
	t.regex(parts.html, /<html[^]*Dear Anna, <a href="https:\/\/example\.com\/a\?b=c">look<\/a>/)
	t.is(parts.text, 'Dear Anna')
	t.is(header(parts, 'To'), 'Anna <anna@example.org>')
	t.is(header(parts, 'Reply-To'), 'help@example.com')
	t.is(header(parts, 'X-Order'), '17')
	t.is(header(parts, 'Message-ID'), `<${id}@example.com>`)
})

test('a Reply-To header of several people has an address for each of them', async (t) => {
	const { ask, sent } = await setupMails(t)
	const shown = async (value: string) => {
		const { id } = await sent({ headers: { 'Reply-To': value } })
		return header((await ask(`/emails/${id}/parts`)).json<Parts>(), 'Reply-To')
	}
	t.regex(
		(await shown('Jörg <j@example.com>, "Doe, Zoë" <z@example.com>,b@example.com'))!,
		/^=\?UTF-8\?\S+\?= <j@example\.com>, =\?UTF-8\?\S+\?= <z@example\.com>, b@example\.com$/,
	)
	t.is(await shown('Doe, Jane <j@example.com>'), '"Doe, Jane" <j@example.com>')
	t.is(await shown('hilfe@exämple.com'), 'hilfe@xn--exmple-cua.com')
	const encoded = '=?UTF-8?Q?J=C3=B6rg?= <j@example.com>, b@example.com'
	t.is(await shown(encoded), encoded)
})

test('the source of a mail is a message with the same parts', async (t) => {
	const { ask, sent } = await setupMails(t)
	const { id } = await sent({ subject: 'Grüße', body: '<p>One</p>' })
	const answer = await ask(`/emails/${id}/source`)
	t.is(answer.statusCode, 200, answer.body)
	t.is(answer.headers['content-type'], 'message/rfc822')
	t.is(answer.headers['content-disposition'], `attachment; filename="${id}.eml"`)
	const parts = (await ask(`/emails/${id}/parts`)).json<Parts>()
	const unfolded = answer.body.replaceAll(/\r\n(?=[ \t])/g, '')
	for (const { name, value } of parts.headers.filter((one) => one.name !== 'Content-Type'))
		t.true(unfolded.includes(`${name}: ${value}\r\n`), name)
	t.regex(
		answer.body,
		/Content-Type: text\/plain[^]*One[^]*Content-Type: text\/html[^]*<p>One<\/p>/,
	)
})

test('a mail with a body of megabytes is shown as a short one is', async (t) => {
	const { ask, sent, pool } = await setupMails(t)
	const { id } = await sent({ subject: 'Grüße', body: '<p>One</p>' })
	const parts = async () => (await ask(`/emails/${id}/parts`)).json<Parts>()
	const source = async () => (await ask(`/emails/${id}/source`)).body
	const [shortParts, shortSource] = [await parts(), await source()]
	await pool.query(`update emails set body = repeat('<!---->', 300000) || body`)
	const longParts = await parts()
	t.deepEqual({ ...longParts, html: longParts.html.replaceAll('<!---->', '') }, shortParts)
	t.is(longParts.html.length - shortParts.html.length, 7 * 300_000)
	const longSource = await source()
	t.deepEqual(longSource.slice(0, 500), shortSource.slice(0, 500))
	t.true(longSource.length > 7 * 300_000)
	await pool.query('update emails set body = null')
	isEnvelope(t, await ask(`/emails/${id}/parts`), 409, 'CONFLICT')
	const text = 'One\n'.repeat(300_000)
	await pool.query(`update emails set body = '<p>One</p>', "text" = $1`, [text])
	t.deepEqual(await parts(), { ...shortParts, text })
})

test("a campaign's mail has the content and the footer of its campaign", async (t) => {
	const { contacts, started, request } = await openCampaigns(t)
	await contacts(1, { data: { name: 'Ann', locale: 'de' } })
	const id = await started({ fromName: 'News' })
	const { data } = (await request('GET', `/emails?campaignId=${id}`)).json()
	const answer = await request('GET', `/emails/${data[0].id}/parts`)
	t.is(answer.statusCode, 200, answer.body)
	const parts = answer.json<Parts>()
	t.is(parts.subject, 'Hello Ann')
	t.regex(parts.html, /Hello Ann[^]*Abmelden/)
	t.is(header(parts, 'From'), 'News <news@example.com>')
	t.is(header(parts, 'To'), 'user0@example.net')
	t.regex(header(parts, 'List-Unsubscribe') ?? '', /\/unsubscribe\//)
})

test("a campaign's mail that has not left has the subject that its reader would get", async (t) => {
	const { contacts, started, request, pool } = await openCampaigns(t)
	await contacts(1, { data: { name: 'Ann' } })
	const campaignId = await started()
	const [mail] = (await request('GET', `/emails?campaignId=${campaignId}`)).json().data
	t.is(mail.status, 'PENDING')
	const subjects = async () => [
		(await request('GET', `/emails/${mail.id}`)).json().subject,
		(await request('GET', `/emails?campaignId=${campaignId}&bodies=true`)).json().data[0].subject,
	]
	t.deepEqual(await subjects(), ['Hello Ann', 'Hello Ann'])
	// What has left stays as it was, whatever its contact is called later.
	await pool.query(`update emails set status = 'SENT', sent_at = now(), subject = 'Hello Ann'`)
	await pool.query(`update contacts set data = '{"name": "Anna"}'`)
	t.deepEqual(await subjects(), ['Hello Ann', 'Hello Ann'])
	// If only a report has shown that it was sent, nobody has stored its subject.
	await pool.query(`update emails set status = 'OPENED', subject = null`)
	t.deepEqual(await subjects(), ['Hello Anna', 'Hello Anna'])
})

test('content that was deleted is a 409, and a mail of another project a 404', async (t) => {
	const { ask, sent, pool, orm } = await setupMails(t)
	const { id } = await sent()
	const { withSecretKey: headers } = await createProject(orm)
	for (const part of ['parts', 'source']) {
		t.is((await ask(`/emails/${id}/${part}`, { headers })).statusCode, 404)
		t.is((await ask(`/emails/${crypto.randomUUID()}/${part}`)).statusCode, 404)
	}
	await pool.query('update emails set body = null')
	for (const part of ['parts', 'source'])
		isEnvelope(t, await ask(`/emails/${id}/${part}`), 409, 'CONFLICT')
})

test('a mail lists what its reader did, in order, and nothing of other mails', async (t) => {
	const { app, handedOver, get, fold, pool, withSecretKey: headers } = await setupEngagements(t)
	const other = await handedOver()
	const { id, open, click } = await handedOver()
	await get(other.open)
	await get(open)
	await fold()
	await get(click)
	await fold()
	const engagements = async () =>
		(await app.inject({ url: `/emails/${id}`, headers })).json().engagements as {
			type: string
			at: string
			link: string | null
		}[]
	const found = await engagements()
	t.deepEqual(
		found.map(({ type, link }) => ({ type, link })),
		[
			{ type: 'open', link: null },
			{ type: 'click', link },
		],
	)
	for (const { at } of found) t.true(Math.abs(Date.now() - Date.parse(at)) < 60_000)
	// Its contact is deleted, and the events stay with the mail.
	await pool.query('delete from contacts')
	t.deepEqual(await engagements(), found)
	await pool.query(`update emails set unsubscribed_at = now() where id = $1`, [id])
	t.deepEqual(
		(await engagements()).map(({ type }) => type),
		['open', 'click', 'unsubscribe'],
	)
})
