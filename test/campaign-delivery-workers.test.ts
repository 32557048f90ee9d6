import test, { type ExecutionContext } from 'ava'
import type { Outcome, ReadyMail } from '../outside/providers/provider.ts'
import { overSmtp, sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { scriptedProvider } from './helpers/ledger.ts'

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
	const campaign = await overSmtp(t, 90)
	const { send, worker, sink } = campaign
	await divide(campaign, [30, 60])
	for (const lane of [2, 0, 1]) {
		t.like(await send(worker, lane), { settled: 30, left: 0 })
	}
	t.is(sink.statistics().distinct, 90)
})

test('a worker with more than its share of the lanes makes way for another worker', async (t) => {
	const { send, worker, query } = await twoLanes(t)
	await query('insert into worker_beats select from generate_series(1, 2)')
	const [own, extra] = await Promise.all([send(worker, 0), send(worker, 1)])
	t.like(own, { settled: 600, left: 0 })
	t.true(extra.left > 0 && extra.settled > 0, JSON.stringify(extra))
	t.like(await send(worker, 1), { settled: 600 - extra.settled, left: 0 })
})

test('a worker gives a lane up when another worker comes', async (t) => {
	const { send, worker, query, sink } = await twoLanes(t)
	await query('insert into worker_beats default values')
	const sending = Promise.all([send(worker, 0), send(worker, 1)])
	while (sink.mails.length < 100) await new Promise((resolve) => setTimeout(resolve, 2))
	await query('insert into worker_beats default values')
	const [own, extra] = await sending
	t.like(own, { settled: 600, left: 0 })
	t.true(extra.left > 0 && extra.settled > 0, JSON.stringify(extra))
})

test('a worker gives one of the last two lanes up, when others have finished theirs', async (t) => {
	const campaign = await overSmtp(t, 1240, { sink: { delayMs: 50 } })
	const { send, worker, query } = campaign
	await divide(campaign, [600, 1200, 1220])
	await query('insert into worker_beats select from generate_series(1, 2)')
	for (const lane of [2, 3]) t.like(await send(worker, lane), { settled: 20, left: 0 })
	const [own, extra] = await Promise.all([send(worker, 0), send(worker, 1)])
	t.like(own, { settled: 600, left: 0 })
	t.true(extra.left > 0 && extra.settled > 0, JSON.stringify(extra))
})

test('two workers together keep the send rate of a project', async (t) => {
	const { send, pool, provider, sink, query } = await overSmtp(t, 40)
	await query('update projects set send_rate_per_second = 20')
	const startedAt = Date.now()
	const workers = [campaignWorker(pool, provider), campaignWorker(pool, provider)]
	await Promise.all(workers.map((worker) => send(worker)))
	t.is(sink.mails.length, 40)
	// Two at a time, since the rate allows two per tenth of a second.
	for (const [index, { at }] of sink.mails.entries())
		t.true(
			at - startedAt >= (Math.floor(index / 2) * 2 * 1000) / 20 - 105,
			`${index} at ${at - startedAt}`,
		)
})

test('a stopping worker hands nothing more over, and leaves nothing open', async (t) => {
	const { send, worker, sink, states, id } = await overSmtp(t, 2000, { sink: { delayMs: 5 } })
	const sending = send(worker)
	while (sink.mails.length < 50) await new Promise((resolve) => setTimeout(resolve, 2))
	worker.stop()
	const rest = await sending
	t.true(rest.left > 0)
	t.deepEqual(Object.keys(await states(id)), ['SENT', 'TO COME'])
})

test('a prepared mail is its recipient’s own, with its own subject', async (t) => {
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

type Campaign = Awaited<ReturnType<typeof overSmtp>>

/** A campaign of two lanes of 600 mails, sent to a slow server. */
async function twoLanes(t: ExecutionContext) {
	const campaign = await overSmtp(t, 1200, { sink: { delayMs: 50 } })
	await divide(campaign, [600])
	return campaign
}

/** Freezes the audience again, in lanes that end after these contacts. */
async function divide({ query, id, act, activities }: Campaign, ends: number[]) {
	await query('delete from audience_pages')
	await query(
		`update campaigns set materialised_at = null, materialised_until = null, lane_bounds = (
			select array_agg(id order by id) from (select id, row_number() over (order by id) as n from contacts) people
			where n = any($2)) where id = $1`,
		[id, ends],
	)
	await act(activities.materialiseCampaign, id)
}
