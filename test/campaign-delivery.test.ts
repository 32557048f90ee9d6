import { randomUUID } from 'node:crypto'
import test from 'ava'
import PostalMime from 'postal-mime'
import type { Outcome, ReadyMail } from '../activities/providers/provider.ts'
import { claimSlice } from '../db/campaign-ledger.ts'
import { sumOf } from './helpers/campaigns.ts'
import { overResend, overSmtp, sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { scriptedProvider } from './helpers/ledger.ts'

test('every recipient gets the mail once, and the ledger, its counts and the events say so', async (t) => {
	const { send, worker, sink, mails, events, query, progress, id } = await overSmtp(t, 600)
	t.deepEqual(await send(worker), { settled: 600, left: 0, waitMs: 0, because: '' })
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
	t.deepEqual(await send(worker), { settled: 0, left: 0, waitMs: 0, because: '' })
	t.is(sink.mails.length, 600)
})

test('whom a mail must not reach any more is settled with the reason, and gets none', async (t) => {
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

test('a transactional campaign goes to those who have unsubscribed, too', async (t) => {
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

test('a pause in the midst takes effect within a moment, and the rest goes after it', async (t) => {
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
	t.is(sink.statistics().distinct, 1500)
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
	t.like(rest, { settled: 4, left: 1, because: 'not due yet' })
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

test('an unreachable server loses nothing, and is asked again with one mail', async (t) => {
	const { send, worker, sink, mails } = await overSmtp(t, 50)
	await sink.stop()
	const soon = setTimeout(() => void sink.start(), 1500)
	t.teardown(() => clearTimeout(soon))
	t.like(await send(worker), { settled: 50, left: 0 })
	t.is(sink.mails.length, 50)
	for (const { status } of await mails()) t.is(status, 'SENT')
})

test('mail that a dead worker had in its hands is in doubt, and nobody repeats it', async (t) => {
	const { send, worker, sink, mails, query, id, project, pool } = await overSmtp(t, 30)
	const first = '00000000-0000-0000-0000-000000000000'
	const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
	const dead = await claimSlice(pool, [project.id, id, first, last, 10, 'smtp', true, null])
	t.is(dead.length, 10)
	t.like(await send(worker), { settled: 30, left: 0 })
	const ids = new Set(dead.map((mail) => mail.id))
	for (const mail of await mails()) t.is(mail.status, ids.has(mail.id) ? 'UNCERTAIN' : 'SENT')
	t.is(sink.mails.length, 20)
	t.deepEqual(await query('select distinct outcome from attempts'), [{ outcome: 'UNKNOWN' }])
})

test('an outcome that comes after somebody doubted it settles the mail', async (t) => {
	const { send, pool, mails, query } = await sendingCampaign(t, 1)
	const answer = Promise.withResolvers<Outcome>()
	const asked = Promise.withResolvers<void>()
	const { provider } = scriptedProvider(() => {
		asked.resolve()
		return answer.promise
	})
	const slow = send(campaignWorker(pool, provider))
	await asked.promise
	t.like(await send(campaignWorker(pool, scriptedProvider().provider)), { settled: 1, left: 0 })
	t.like((await mails())[0], { status: 'UNCERTAIN' })
	answer.resolve({ kind: 'SENT', providerMessageId: 'late' })
	await slow
	t.like((await mails())[0], { status: 'SENT', provider_message_id: 'late', error: null })
	t.deepEqual(await query('select outcome from attempts'), [{ outcome: 'SENT' }])
})

test('any number of workers at the same lane send every mail once', async (t) => {
	const { send, sink, provider, pool, mails } = await overSmtp(t, 800)
	const workers = Array.from({ length: 4 }, () => campaignWorker(pool, provider))
	const rests = await Promise.all(workers.map((worker) => send(worker)))
	for (const { left } of rests) t.is(left, 0)
	t.is(sink.mails.length, 800)
	t.is(sink.statistics().distinct, 800)
	for (const { status, attempt } of await mails())
		if (status !== 'UNCERTAIN') t.deepEqual([status, attempt], ['SENT', 1])
})

test('lanes have no mail in common, and together they have all', async (t) => {
	const { send, worker, sink, query, id } = await overSmtp(t, 90)
	await query(
		`update campaigns set lane_bounds = (select array_agg(contact_id order by contact_id) from (
			select contact_id, row_number() over (order by contact_id) as n from emails where campaign_id = $1
		) mails where n in (30, 60)) where id = $1`,
		[id],
	)
	for (const lane of [2, 0, 1]) {
		t.like(await send(worker, lane), { settled: 30, left: 0 })
	}
	t.is(sink.statistics().distinct, 90)
})

test('two workers together keep the send rate of a project', async (t) => {
	const { send, pool, provider, sink, query } = await overSmtp(t, 40)
	await query('update projects set send_rate_per_second = 20')
	const startedAt = Date.now()
	const workers = [campaignWorker(pool, provider), campaignWorker(pool, provider)]
	await Promise.all(workers.map((worker) => send(worker)))
	t.is(sink.mails.length, 40)
	// Two at a time, as each tenth of a second is worth.
	for (const [index, { at }] of sink.mails.entries())
		t.true(
			at - startedAt >= (Math.floor(index / 2) * 2 * 1000) / 20 - 105,
			`${index} at ${at - startedAt}`,
		)
})

test('a worker that is to end hands nothing more over, and leaves nothing open', async (t) => {
	const { send, worker, sink, mails } = await overSmtp(t, 2000, { sink: { delayMs: 5 } })
	const sending = send(worker)
	while (sink.mails.length < 50) await new Promise((resolve) => setTimeout(resolve, 2))
	worker.stop()
	const rest = await sending
	t.true(rest.left > 0)
	const states = new Set((await mails()).map(({ status }) => status))
	t.deepEqual([...states].sort(), ['PENDING', 'SENT'])
})

test('a mail with an address beyond ASCII, and one that cannot be written, cost the others nothing', async (t) => {
	const { send, worker, sink, query, mails } = await overSmtp(t, 4, {
		sink: { extensions: ['SMTPUTF8'] },
	})
	await query(`update emails set "to" = 'jürgen@example.net' where "to" = 'user1@example.net'`)
	await query(`update emails set "to" = E'a b@example.net' where "to" = 'user2@example.net'`)
	t.like(await send(worker), { settled: 4, left: 0 })
	const states = Object.fromEntries((await mails()).map(({ to, status }) => [to, status]))
	t.is(states['jürgen@example.net'], 'SENT')
	t.is(states['a b@example.net'], 'FAILED')
	t.is(sink.mails.length, 3)
})

test('over Resend a campaign goes in batches', async (t) => {
	const { send, worker, fake, mails } = await overResend(t, 250)
	t.like(await send(worker), { settled: 250, left: 0 })
	t.is(fake.requests.length, 3)
	t.is(new Set(fake.accepted.map(({ emailId }) => emailId)).size, 250)
	const idOf = new Map(fake.accepted.map(({ emailId, id }) => [emailId, id]))
	for (const mail of await mails())
		t.like(mail, { status: 'SENT', provider_message_id: idOf.get(mail.id)! })
})

test('a batch that a dead worker had handed over is repeated under its key, though contacts have changed', async (t) => {
	const { send, provider, pool, fake, mails, query, project, id } = await overResend(t, 120)
	const answers = Promise.withResolvers<never>()
	const dying = {
		...provider,
		deliverBatch: async (...given: Parameters<NonNullable<typeof provider.deliverBatch>>) => {
			await provider.deliverBatch!(...given)
			return answers.promise // the worker is dead before it can say so
		},
	}
	const dead = send(campaignWorker(pool, dying)).catch(() => {})
	t.teardown(async () => {
		answers.reject(new Error('dead'))
		await dead
	})
	while (fake.accepted.length < 120) await new Promise((resolve) => setTimeout(resolve, 5))
	await query(`update contacts set data = '{"name": "Zoe"}' where email like 'user1%'`)
	t.like(await send(campaignWorker(pool, provider)), { settled: 120, left: 0 })
	t.is(fake.accepted.length, 120)
	for (const { status } of await mails()) t.is(status, 'SENT')
	t.like(
		(
			await query('select status from campaigns where id = $1 and project_id = $2', [
				id,
				project.id,
			])
		)[0],
		{ status: 'SENDING' },
	)
})

test('a batch that was perhaps taken is repeated under its key until Resend tells', async (t) => {
	const { send, worker, fake, mails } = await overResend(t, 30, [
		{ status: 500, take: true, times: 2 },
	])
	let rest = await send(worker)
	for (let tries = 0; rest.left > 0 && tries < 5; tries++) rest = await send(worker)
	t.is(rest.left, 0)
	t.is(fake.accepted.length, 30)
	for (const { status, attempt } of await mails()) t.deepEqual([status, attempt], ['SENT', 1])
})

test('a batch that was surely not taken goes again as a new one', async (t) => {
	const { send, worker, fake, mails } = await overResend(t, 30, [
		{ status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '1' }, times: 1 },
	])
	t.like(await send(worker), { settled: 30, left: 0 })
	t.is(fake.accepted.length, 30)
	for (const { status } of await mails()) t.is(status, 'SENT')
})

test('what is in doubt over Resend for longer than it remembers is not repeated', async (t) => {
	const { send, worker, fake, mails, query } = await overResend(t, 2)
	await query(
		`update emails set status = 'SENDING', attempt = 1, provider = 'resend', batch_id = $1,
			attempt_started_at = now() - interval '24 hours'`,
		[randomUUID()],
	)
	t.like(await send(worker), { settled: 2, left: 0 })
	t.is(fake.accepted.length, 0)
	for (const { status } of await mails()) t.is(status, 'UNCERTAIN')
})

test('ready mail is put together only when its turn comes', async (t) => {
	const { send, pool, query } = await sendingCampaign(t, 40)
	const { provider } = scriptedProvider()
	const waiting: { mail: ReadyMail; done(outcome: Outcome): void }[] = []
	const deliverReady = (mail: ReadyMail) =>
		new Promise<Outcome>((done) => waiting.push({ mail, done }))
	const sending = send(campaignWorker(pool, { ...provider, deliverReady }))
	let sent = 0
	while (sent < 40) {
		await new Promise((resolve) => setTimeout(resolve, 1))
		for (const { mail, done } of waiting.splice(0)) {
			t.true(mail.raw().includes(`To: ${mail.to}\r\n`))
			done({ kind: 'SENT', providerMessageId: `q${sent++}` })
		}
	}
	t.like(await sending, { settled: 40, left: 0 })
	t.like(
		(await query('select count(*)::int as n from emails where subject = $1', ['Hello Ann']))[0],
		{ n: 40 },
	)
})

test('a mail of a campaign shows what it says and how it went, though neither is kept with it', async (t) => {
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

test('a mail in doubt that its owner sends once more is the same mail', async (t) => {
	const { worker, sink, mails, query, app, withSecretKey, project } = await overSmtp(t, 1)
	await query(
		`update emails set status = 'UNCERTAIN', attempt = 1, attempt_started_at = now(), tracked = true`,
	)
	const { id } = (await mails())[0]!
	const answer = await app.inject({
		method: 'POST',
		url: `/emails/${id}/resolve`,
		headers: withSecretKey,
		payload: { as: 'retry' },
	})
	t.is(answer.statusCode, 200, answer.body)
	t.like(await worker.deliver(project.id, [id]), { left: 0 })
	const mail = await PostalMime.parse(sink.mails[0]!.raw)
	t.is(mail.subject, 'Hello Ann')
	t.regex(mail.html!, /Hello Ann, <a href="http:\/\/localhost:3000\/c\//)
	t.true(mail.headers.some(({ key, value }) => key === 'precedence' && value === 'bulk'))
	t.like((await mails())[0], { status: 'SENT', attempt: 2 })
})
