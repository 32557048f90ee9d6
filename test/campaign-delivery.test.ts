import test from 'ava'
import PostalMime from 'postal-mime'
import { openCampaigns, sumOf } from './helpers/campaigns.ts'
import { overSmtp, sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { scriptedProvider } from './helpers/ledger.ts'
import { setupSmtp } from './helpers/smtp.ts'

test('every recipient gets the mail once, and ledger, counts and events agree', async (t) => {
	const { send, worker, sink, mails, events, query, progress, id } = await overSmtp(t, 600)
	t.like(await send(worker), { settled: 600, left: 0, waitMs: 0, because: '' })
	const rows = await mails()
	t.deepEqual(
		new Set(sink.mails.map(({ to, emailId }) => `${to} ${emailId}`)),
		new Set(rows.map((row) => `${row.to} ${row.id}`)),
	)
	t.is(sink.mails.length, 600)
	for (const row of rows) {
		t.like(row, { status: 'SENT', attempt: 1, error: null, subject: 'Hello Ann' })
		t.truthy(row.provider_message_id)
	}
	t.deepEqual(
		(await events()).map(({ data }) => data.emailId).sort(),
		rows.map((row) => row.id).sort(),
	)
	t.like((await events())[0]!.data, { subject: 'Hello Ann' })
	t.deepEqual(await query('select 1 from attempts'), [], 'a first success needs none')
	t.like(await progress(id), { sent: 600, total: 600 })

	const mail = await PostalMime.parse(sink.mails[0]!.raw)
	t.is(mail.subject, 'Hello Ann')
	t.regex(mail.html!, /Hello Ann, <a href="http:\/\/localhost:3000\/c\/[\w-]+\/[\w-]{36}\?to=https/)
	t.regex(mail.text!, /Hello Ann, look \(https:\/\/example.com\/\)/)
	t.true(mail.headers.some(({ key }) => key === 'list-unsubscribe-post'))
	t.like(await send(worker), { settled: 0, left: 0, waitMs: 0, because: '' })
	t.is(sink.mails.length, 600)
})

test('mail shows the postal address that the project had when the campaign began', async (t) => {
	const context = await openCampaigns(t)
	await context.contacts(2)
	await context.query(`update projects set postal_address = 'Shop Ltd' || chr(10) || 'London'`)
	const id = await context.started({ type: 'MARKETING' })
	await context.query(`update projects set postal_address = 'Elsewhere'`)
	const { sink, provider } = await setupSmtp(t)
	await campaignWorker(context.pool, provider).send(context.project.id, id)
	t.is(sink.mails.length, 2)
	for (const { raw } of sink.mails) {
		const { html, text } = await PostalMime.parse(raw)
		t.regex(html!, /Shop Ltd<br>London/)
		t.regex(text!, /Shop Ltd\nLondon/)
	}
})

test('a recipient who may no longer get mail is settled with the reason', async (t) => {
	const { send, worker, sink, mails, query, project } = await overSmtp(t, 4)
	await query(`insert into suppressions (project_id, email, reason) values ($1, $2, 'COMPLAINT')`, [
		project.id,
		'user1@example.net',
	])
	await query(`update contacts set subscribed = false where email = 'user2@example.net'`)
	t.like(await send(worker), { settled: 4, left: 0 })
	const states = Object.fromEntries((await mails()).map(({ to, ...row }) => [to.slice(0, 5), row]))
	t.like(states['user1'], { status: 'SUPPRESSED', attempt: 0 })
	t.regex(states['user1']!.error!, /COMPLAINT/)
	t.like(states['user2'], {
		status: 'CANCELLED',
		error: 'The contact is not subscribed',
		attempt: 0,
	})
	t.deepEqual(sink.mails.map(({ to }) => to.slice(0, 5)).sort(), ['user0', 'user3'])
})

test('a campaign of an unverified owner never leaves this machine', async (t) => {
	const { send, worker, sink, mails, query } = await overSmtp(t, 2)
	await query('update projects set owner_verified = false')
	t.like(await send(worker), { settled: 2, left: 0 })
	for (const mail of await mails())
		t.like(mail, {
			status: 'CANCELLED',
			error: "The project's owner has not verified their email address",
			attempt: 0,
		})
	t.is(sink.mails.length, 0)
})

test('a transactional campaign is also sent to unsubscribed contacts', async (t) => {
	const { send, pool, query } = await sendingCampaign(t, 2, { type: 'TRANSACTIONAL' })
	await query('update contacts set subscribed = false')
	const { provider, handed } = scriptedProvider()
	t.like(await send(campaignWorker(pool, provider)), { settled: 2, left: 0 })
	t.is(handed.length, 2)
})

for (const [word, sql] of [
	['paused', 'update campaigns set paused_at = now()'],
	['cancelled', `update campaigns set status = 'CANCELLED'`],
	['of a disabled project', `update projects set disabled_reason = 'MANUAL'`],
] as const)
	test(`nothing is handed over of a campaign that is ${word}`, async (t) => {
		const { send, worker, sink, query, mails } = await overSmtp(t, 3)
		await query(sql)
		t.like(await send(worker), { settled: 0, left: 3, waitMs: 0 })
		t.is(sink.mails.length, 0)
		for (const mail of await mails()) t.like(mail, { status: 'PENDING', attempt: 0 })
	})

test('a pause takes effect within a moment, and the rest is sent after it', async (t) => {
	const { send, worker, sink, query, mails, id, progress } = await overSmtp(t, 1500, {
		sink: { delayMs: 10 },
	})
	const sending = send(worker)
	while (sink.mails.length < 100) await new Promise((resolve) => setTimeout(resolve, 5))
	await query('update campaigns set paused_at = now()')
	const pausedAt = Date.now()
	const rest = await sending
	t.true(rest.left > 0)
	t.is(rest.left + rest.settled, 1500)
	t.true(sink.mails.at(-1)!.at - pausedAt < 2000)
	t.is(sumOf(await progress(id)), 1500)
	t.is((await mails()).filter(({ status }) => status === 'SENDING').length, 0)
	await query('update campaigns set paused_at = null')
	t.like(await send(worker), { left: 0 })
	t.is(sink.distinct(), 1500)
	t.is(sink.mails.length, 1500)
})

test('refusals concern their mail only: some fail, some wait for their time', async (t) => {
	const { send, worker, sink, mails, query } = await overSmtp(t, 5, {
		faults: [
			{ at: 'rcpt', recipient: 'user1@', reply: '550 5.1.1 User unknown' },
			{
				at: 'rcpt',
				recipient: 'user2@',
				times: 1,
				reply: '450 4.2.1 Greylisted, retry after 20 seconds',
			},
		],
	})
	const rest = await send(worker)
	const because = 'Recipient refused: 450 4.2.1 Greylisted, retry after 20 seconds'
	t.like(rest, { settled: 4, left: 1, because })
	t.true(rest.waitMs > 15_000 && rest.waitMs <= 20_000)
	const [, refused, later] = await mails()
	t.like(refused, { status: 'BOUNCED', error: 'Recipient refused: 550 5.1.1 User unknown' })
	t.like(later, { status: 'PENDING', attempt: 1 })
	await query(`update emails set due_at = now() where status = 'PENDING'`)
	t.like(await send(worker), { settled: 1, left: 0 })
	t.like((await mails())[2], { status: 'SENT', attempt: 2 })
	t.deepEqual(
		await query(
			`select a.attempt, a.outcome from attempts a join emails e on e.id = a.email_id
			where e."to" = 'user2@example.net' order by 1`,
		),
		[
			{ attempt: 1, outcome: 'DEFERRED' },
			{ attempt: 2, outcome: 'SENT' },
		],
	)
	t.is(sink.mails.length, 4)
})

test('an unreachable server loses no mail, and is tested with a single mail', async (t) => {
	const { send, worker, sink, mails } = await overSmtp(t, 50)
	await sink.stop()
	const soon = setTimeout(() => void sink.start(), 1500)
	t.teardown(() => clearTimeout(soon))
	t.like(await send(worker), { settled: 50, left: 0 })
	t.is(sink.mails.length, 50)
	for (const { status } of await mails()) t.is(status, 'SENT')
})

test('a mail with a non-ASCII or an invalid address does not affect the others', async (t) => {
	const { send, worker, sink, query, mails } = await overSmtp(t, 4, {
		sink: { extensions: ['SMTPUTF8'] },
	})
	await query(`update contacts set email = 'jürgen@example.net' where email = 'user1@example.net'`)
	await query(`update contacts set email = E'a b@example.net' where email = 'user2@example.net'`)
	t.like(await send(worker), { settled: 4, left: 0 })
	const states = Object.fromEntries((await mails()).map(({ to, status }) => [to, status]))
	t.is(states['jürgen@example.net'], 'SENT')
	t.is(states['a b@example.net'], 'FAILED')
	t.is(sink.mails.length, 3)
})

test('a mail of a campaign shows its content and outcome, although neither is stored with it', async (t) => {
	const { send, worker, mails, app, withSecretKey, query } = await overSmtp(t, 2, {
		faults: [
			{ at: 'rcpt', recipient: 'user1@', times: 1, reply: '450 4.2.1 Later, retry after 1 s' },
		],
	})
	t.like(await send(worker), { left: 0 })
	const [first, second] = await mails()
	const get = async (id: string) =>
		(await app.inject({ url: `/emails/${id}`, headers: withSecretKey })).json()
	const shown = await get(first!.id)
	t.regex(
		shown.body,
		/^<p>Hello Ann, <a href="https:\/\/example.com\/">look<\/a>.*unsubscribe\/[\w-]{36}\?e=/,
	)
	t.like(shown, { subject: 'Hello Ann', status: 'SENT' })
	t.like(shown.attempts, [
		{
			outcome: 'SENT',
			provider: 'smtp',
			providerMessageId: first!.provider_message_id,
			error: null,
		},
	])
	t.is(shown.attempts.length, 1)
	t.deepEqual(
		(await get(second!.id)).attempts.map(({ outcome }: { outcome: string }) => outcome),
		['DEFERRED', 'SENT'],
	)
	await query('delete from contacts')
	t.regex((await get(first!.id)).body, /^<p>Hello , <a/)
})
