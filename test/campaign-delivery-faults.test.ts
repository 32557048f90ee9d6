import { randomUUID } from 'node:crypto'
import test from 'ava'
import { overResend, overSmtp, sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { scriptedProvider } from './helpers/ledger.ts'

test('a batch of a paused campaign is repeated only when the campaign is resumed', async (t) => {
	const { send, worker, fake, mails, query } = await overResend(t, 2)
	await query(
		`update emails set status = 'SENDING', attempt = 1, provider = 'resend', batch_id = $1,
			attempt_started_at = now(), first_attempt_at = now()`,
		[randomUUID()],
	)
	await query('update campaigns set paused_at = now()')
	t.like(await send(worker), { settled: 0, left: 2, because: 'paused' })
	t.is(fake.requests.length, 0)
	for (const { status } of await mails()) t.is(status, 'SENDING')
	await query('update campaigns set paused_at = null')
	t.like(await send(worker), { settled: 2, left: 0 })
	t.is(fake.accepted.length, 2)
})

test('a batch without an answer is repeated at growing intervals', async (t) => {
	const { send, worker, fake } = await overResend(t, 3, [{ drop: true, times: 2 }])
	t.like(await send(worker), { settled: 3, left: 0 })
	const [first, second, third] = fake.requests.map(({ at }) => at)
	t.true(second! - first! >= 990)
	t.true(third! - second! >= 1990)
	t.is(new Set(fake.requests.map(({ headers }) => headers['idempotency-key'])).size, 1)
})

test('a batch that another request is sending is repeated at the time that Resend sets', async (t) => {
	const busy = { status: 409, name: 'concurrent_idempotent_requests', times: 1 }
	const { send, worker, fake } = await overResend(t, 3, [
		{ ...busy, headers: { 'retry-after': '2' } },
	])
	const startedAt = Date.now()
	t.like(await send(worker), { settled: 3, left: 0 })
	t.is(fake.requests.length, 2)
	t.true(Date.now() - startedAt >= 1990)
})

test('a subject cut within a character costs neither its mail nor the others anything', async (t) => {
	const { send, query, mails, pool } = await sendingCampaign(t, 3, {
		subject: 'Hi {{ name | split: "" | first }}',
	})
	await query(`update contacts set data = '{"name": "😀"}' where email = 'user1@example.net'`)
	const { provider } = scriptedProvider()
	t.like(await send(campaignWorker(pool, provider)), { settled: 3, left: 0 })
	t.deepEqual(
		(await mails()).map(({ subject }) => subject),
		['Hi A', 'Hi \ufffd', 'Hi A'],
	)
})

test('a mail that Postgres cannot record keeps no other out of the ledger', async (t) => {
	const { send, mails, pool } = await sendingCampaign(t, 5)
	const { provider } = scriptedProvider(({ to }) => ({
		kind: 'SENT',
		providerMessageId: to.email === 'user2@example.net' ? 'NUL \0' : 'q1',
	}))
	await t.throwsAsync(send(campaignWorker(pool, provider)), { message: /unsupported Unicode/ })
	t.deepEqual(
		(await mails()).map(({ status }) => status),
		['SENT', 'SENT', 'SENDING', 'SENT', 'SENT'],
	)
})

test('a mail that nobody tried for days gets the tries of an hour before it is given up', async (t) => {
	const { send, worker, mails, query } = await overSmtp(t, 1, {
		faults: [{ at: 'rcpt', recipient: 'user0@', times: 9, reply: '450 4.2.1 Later' }],
	})
	// Its turn waits for the second try.
	t.like(await send(worker), { settled: 0, left: 1 })
	for (let tries = 3; tries <= 7; tries++) {
		await query(`update emails set first_attempt_at = now() - interval '5 days', due_at = now()`)
		t.like(await send(worker), { settled: 0, left: 1 })
		t.like((await mails())[0], { status: 'PENDING', attempt: tries })
	}
	await query('update emails set due_at = now()')
	t.like(await send(worker), { settled: 1, left: 0 })
	t.like((await mails())[0], { status: 'FAILED', attempt: 8 })
})

test('a mail that waited for days is not given up at its first deferral', async (t) => {
	const { send, worker, mails, query } = await overSmtp(t, 1, {
		faults: [{ at: 'rcpt', recipient: 'user0@', times: 1, reply: '450 4.2.1 Retry after 20 s' }],
	})
	await query(`update emails set created_at = now() - interval '5 days'`)
	t.like(await send(worker), { settled: 0, left: 1 })
	t.like((await mails())[0], { status: 'PENDING', attempt: 1 })
})
