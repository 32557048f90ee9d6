import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import {
	createCampaign,
	ended,
	progressOf,
	seedRecipients,
	sendCampaign,
} from '../bench/campaign/campaign-run.ts'
import { until } from '../bench/load.ts'
import { startSink } from '../bench/sink.ts'
import { prepareStack } from '../bench/stack.ts'
import { createCampaignSlots } from '../activities/campaigns/campaign-slots.ts'
import { poolOf } from '../db/statement.ts'
import { overSmtp } from './helpers/campaign-sending.ts'

// So slow that a busy machine's own work hardly counts: npm run bench campaign measures faster servers.
test.serial('a campaign over a slow server keeps its connections busy', async (t) => {
	const delayMs = 1500
	// Of 20 connections, one stays free for single mails.
	const connections = 19
	const people = 10 * connections
	const { send, worker, sink } = await overSmtp(t, people, { sink: { delayMs } })
	t.like(await send(worker), { settled: people, left: 0 })
	const { firstAt, lastAt } = sink.statistics()
	const busyShare = (people * delayMs) / connections / (lastAt - firstAt + delayMs)
	t.true(busyShare >= 0.83, `${busyShare.toFixed(2)} of the time`)
})

test.serial('a slow server does not keep a campaign below its send rate', async (t) => {
	const people = 150
	const { send, worker, sink, query } = await overSmtp(t, people, { sink: { delayMs: 300 } })
	await query('update projects set send_rate_per_second = 30')
	t.like(await send(worker), { settled: people, left: 0 })
	const { firstAt, lastAt } = sink.statistics()
	t.true(lastAt - firstAt < (people - 1) * 40, `${lastAt - firstAt} ms`)
})

test.serial(
	'over a slow server, too, nothing is handed over two seconds after a pause, and the rest is sent after it',
	async (t) => {
		const { send, worker, sink, query, mails, id, progress } = await overSmtp(t, 18, {
			// The answers of the first come long after the pause was noticed.
			faults: [{ at: 'dot', times: 3, delayMs: 8000 }],
			concurrency: 4,
		})
		const sending = send(worker)
		while ((await progress(id)).sending < 12) await sleep(20)
		await query('update campaigns set paused_at = now()')
		t.like(await sending, { settled: 3, left: 15 })
		t.is(sink.mails.length, 3, 'those whose content had left')
		const waiting = (await mails()).filter(({ status }) => status === 'PENDING')
		t.is(waiting.length, 9)
		for (const mail of waiting) t.regex(mail.error!, /^Taken back before the hand-over/)
		await query('update campaigns set paused_at = null')
		t.like(await send(worker), { settled: 15, left: 0 })
		t.is(sink.distinct(), 18)
		t.is(sink.mails.length, 18)
		t.like(await progress(id), { sent: 18, pending: 0, sending: 0 })
	},
)

test.serial('single mails get through while a campaign fills a slow server', async (t) => {
	const { send, worker, sink, app, withSecretKey } = await overSmtp(t, 400, {
		sink: { delayMs: 300 },
	})
	const campaign = send(worker)
	while (sink.mails.length < 40) await sleep(5)
	const to = Array.from({ length: 20 }, (_, i) => `single${i}@example.org`)
	for (const one of to) {
		const payload = { to: one, from: 'a@example.com', subject: 'Code', body: '1234' }
		const answer = await app.inject({
			method: 'POST',
			url: '/v1/send',
			headers: withSecretKey,
			payload,
		})
		t.is(answer.statusCode, 200, answer.body)
	}
	const before = sink.mails.length
	const startedAt = Date.now()
	t.like(await worker.deliver(), { left: 0 })
	const tookMs = Date.now() - startedAt
	t.true(tookMs < 2500, `${tookMs} ms`)
	t.true(sink.mails.length - before > 20 + 30, 'the campaign goes on beside them')
	t.like(await campaign, { settled: 400, left: 0 })
})

test.serial(
	'a killed worker leaves in doubt three mails per connection plus a tenth of a second’s mails',
	async (t) => {
		t.timeout(120_000)
		const connections = 5
		const sink = await startSink(['--delay', '300'])
		t.teardown(sink.close)
		const env = { EMAIL_PROVIDER: 'smtp', SMTP_URL: `${sink.url}?pool=${connections}` }
		const stack = await prepareStack(
			{
				databaseUrl: process.env['DATABASE_URL']!,
				temporalAddress: process.env['TEMPORAL_ADDRESS']!,
			},
			env,
		)
		t.teardown(stack.stop)
		await stack.api.start()
		await stack.worker.start()
		await seedRecipients(stack, 100)
		const id = await createCampaign(stack)
		await sendCampaign(stack, id)
		await until(async () => (await sink.statistics()).accepted > 40, 60_000, 5)
		await stack.worker.stop('SIGKILL')
		const pool = await poolOf(stack.orm.em)
		// Postgres still ends the statements that it had received.
		const busy = `select from pg_stat_activity where datname = current_database()
			and backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`
		t.true(await until(async () => (await pool.query(busy)).rowCount === 0, 60_000))
		const { rows } = await pool.query<{ inHand: number }>(
			`select count(*)::int as "inHand" from emails where status = 'SENDING'`,
		)
		t.true(rows[0]!.inHand <= 3 * connections + 2, `${rows[0]!.inHand} in hand`)
		await stack.worker.start()
		await ended(stack, id)
		const { total, sent, uncertain } = await progressOf(stack, id)
		t.is(uncertain, rows[0]!.inHand)
		t.is(sent, total - uncertain)
		const { accepted } = await sink.statistics()
		const distinct = await sink.distinct()
		t.is(accepted, distinct)
		t.true(distinct >= sent)
	},
)

test('a process never holds more campaign mails than forty a connection', async (t) => {
	const slots = createCampaignSlots(5, () => false)
	let held = 0
	let most = 0
	let isOver = false
	const claiming = (async () => {
		while (!isOver) {
			const more = await slots.enter('a', 1000)
			held += more
			most = Math.max(most, held)
		}
	})()
	// The fastest possible server: it answers at once.
	for (let round = 0; round < 300; round++) {
		await sleep(5)
		for (; held > 0; held -= 1) slots.recorded('a', 1)
	}
	isOver = true
	await sleep(5)
	for (; held > 0; held -= 1) slots.recorded('a', 1)
	await claiming
	t.true(most > 60, `${most}: it grows with what the server takes`)
	t.true(most <= 200, `${most}`)
})

test('a project whose campaign mails are slow leaves room for the campaigns of others', async (t) => {
	const slots = createCampaignSlots(20, () => false)
	t.is(await slots.enter('slow', 1000), 40)
	t.is(await slots.enter('slow', 1000), 20)
	let more = 0
	const again = slots.enter('slow', 1000).then((granted) => (more = granted))
	const other = slots.enter('other', 1000)
	// One by one, the first places become free. They are the other project's, although it asked later.
	for (let i = 0; i < 20; i++) slots.recorded('slow', 1)
	t.is(await other, 20)
	for (let round = 0; round < 50; round++) {
		const next = slots.enter('other', 1000)
		slots.recorded('other', 20)
		t.is(await next, 20)
	}
	t.is(more, 0)
	// Once it is alone again, it may use all.
	slots.recorded('other', 20)
	t.is(await again, 20)
	t.is(more, 20)
})
