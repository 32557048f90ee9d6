import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import type { Outcome, ReadyMail } from '../outside/providers/provider.ts'
import { overSmtp, sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { seal } from '../db/domains/seal.ts'
import { verifyDkim } from './helpers/dkim.ts'
import { scriptedProvider, sealingSecret } from './helpers/ledger.ts'

test('any number of workers at the same lane send every mail once', async (t) => {
	const { send, sink, provider, pool, mails } = await overSmtp(t, 800)
	const workers = Array.from({ length: 4 }, () => campaignWorker(pool, provider))
	const rests = await Promise.all(workers.map((worker) => send(worker)))
	for (const { left } of rests) t.is(left, 0)
	t.is(sink.mails.length, 800)
	t.is(sink.distinct(), 800)
	for (const { status, attempt } of await mails())
		if (status !== 'UNCERTAIN') t.deepEqual([status, attempt], ['SENT', 1])
})

test('lanes have no mail in common, and together they have all', async (t) => {
	const { send, worker, sink, query, id, act, activities } = await overSmtp(t, 90)
	// Freezes it again, divided.
	await query('delete from audience_pages')
	await query(
		`update campaigns set materialised_at = null, materialised_until = null, lane_bounds = (
			select array_agg(id order by id) from (select id, row_number() over (order by id) as n from contacts) people
			where n in (30, 60)) where id = $1`,
		[id],
	)
	await act(activities.materialiseCampaign, id)
	for (const lane of [2, 0, 1]) {
		t.like(await send(worker, lane), { settled: 30, left: 0 })
	}
	t.is(sink.distinct(), 90)
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

test('a single mail does not wait behind the send rate of each campaign of its project', async (t) => {
	const { send, worker, sink, query } = await overSmtp(t, 24)
	await query('update projects set send_rate_per_second = 4')
	const sending = Promise.all(Array.from({ length: 12 }, () => send(worker)))
	while (sink.mails.length < 4) await new Promise((resolve) => setTimeout(resolve, 5))
	const [budget] = await query<{ ahead: number }>(
		'select extract(epoch from next_at - clock_timestamp())::float8 as ahead from send_budgets',
	)
	t.true(budget!.ahead < 1, `${budget!.ahead} s are reserved`)
	await sending
	t.is(sink.mails.length, 24)
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

/** A provider that is given prepared mails, and answers when the test says so. */
function waitingProvider() {
	const waiting: { mail: ReadyMail; done(outcome: Outcome): void }[] = []
	const deliverReady = (mail: ReadyMail) =>
		new Promise<Outcome>((done) => waiting.push({ mail, done }))
	return { provider: scriptedProvider(undefined, { deliverReady }).provider, waiting }
}

test('a prepared mail is its recipient’s own, with its own subject', async (t) => {
	const { send, pool, query } = await sendingCampaign(t, 40)
	const { provider, waiting } = waitingProvider()
	const sending = send(campaignWorker(pool, provider))
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

test('large mails of campaigns are composed only while there is memory for them', async (t) => {
	const { send, pool } = await sendingCampaign(t, 40, {
		body: `{% for i in (1..100) %}<p>${'word '.repeat(5000)}</p>{% endfor %}`,
	})
	const { provider, waiting } = waitingProvider()
	const sending = send(campaignWorker(pool, provider))
	let sent = 0
	let most = 0
	while (sent < 40) {
		const before = waiting.length
		await new Promise((resolve) => setTimeout(resolve, 500))
		// The server answers once no more mails come.
		if (waiting.length > before) continue
		most = Math.max(most, waiting.length)
		for (const { done } of waiting.splice(0))
			done({ kind: 'SENT', providerMessageId: `q${sent++}` })
	}
	t.like(await sending, { settled: 40, left: 0 })
	// 5 MB each.
	t.true(most <= 14, `${most} at a time`)
})

test('a large mail of a campaign is signed, too', async (t) => {
	const { send, pool, query } = await sendingCampaign(t, 2, {
		body: `{% for i in (1..100) %}<p>${'word '.repeat(1000)}</p>{% endfor %}`,
	})
	const { privateKey, publicKey } = generateKeyPairSync('rsa', {
		modulusLength: 2048,
		publicKeyEncoding: { type: 'spki', format: 'pem' },
		privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
	})
	const { provider } = scriptedProvider()
	const raws: string[] = []
	const deliverReady = async (mail: ReadyMail): Promise<Outcome> => {
		raws.push(mail.raw())
		return { kind: 'SENT', providerMessageId: 'q' }
	}
	await query(
		`update domains set dkim_selector = 'tempost', dkim_private_key = $1 where domain = 'example.com'`,
		[seal(Buffer.from(privateKey), sealingSecret)],
	)
	const worker = campaignWorker(pool, { ...provider, deliverReady })
	t.like(await send(worker), { settled: 2, left: 0 })
	t.is(raws.length, 2)
	for (const raw of raws) t.true(verifyDkim(raw, publicKey).isValid)
})
