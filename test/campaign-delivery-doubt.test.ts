import test, { type ExecutionContext } from 'ava'
import PostalMime from 'postal-mime'
import type { Outcome } from '../outside/providers/provider.ts'
import { bearSlice } from '../db/campaigns/campaign-ledger.ts'
import { doubt } from '../db/emails/doubt.ts'
import { recordEnds } from '../db/emails/ledger.ts'
import { overSmtp, sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { scriptedProvider } from './helpers/ledger.ts'
import { lockWaits } from './helpers/locks.ts'

test('mail that a dead worker was handing over is in doubt and not repeated', async (t) => {
	const { send, worker, sink, mails, query, id, project, pool } = await overSmtp(t, 30)
	const first = '00000000-0000-0000-0000-000000000000'
	const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
	const dead = await bearSlice(pool, {
		projectId: project.id,
		campaignId: id,
		after: first,
		until: last,
		limit: 10,
		provider: 'smtp',
		tracked: true,
		batchId: null,
	})
	t.is(dead.length, 10)
	t.like(await send(worker), { settled: 30, left: 0 })
	const ids = new Set(dead.map((mail) => mail.id))
	for (const mail of await mails()) t.is(mail.status, ids.has(mail.id) ? 'UNCERTAIN' : 'SENT')
	t.is(sink.mails.length, 20)
	t.deepEqual(await query('select distinct outcome from attempts'), [{ outcome: 'UNKNOWN' }])
})

test('a late outcome settles a mail in doubt', async (t) => {
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

test('a mail in doubt that its owner sends once more after its campaign is the same mail', async (t) => {
	const {
		worker,
		sink,
		mails,
		query,
		app,
		withSecretKey,
		written,
		act,
		activities,
		id: campaignId,
	} = await overSmtp(t, 1)
	await written(campaignId)
	await query(
		`update emails set status = 'UNCERTAIN', attempt = 1, attempt_started_at = now(), tracked = true`,
	)
	t.like(await act(activities.advanceCampaign, campaignId), { act: 'end' })
	const { id } = (await mails())[0]!
	const answer = await app.inject({
		method: 'POST',
		url: `/emails/${id}/resolve`,
		headers: withSecretKey,
		payload: { as: 'retry' },
	})
	t.is(answer.statusCode, 200, answer.body)
	t.like(await worker.deliver(), { left: 0 })
	const mail = await PostalMime.parse(sink.mails[0]!.raw)
	t.is(mail.subject, 'Hello Ann')
	t.regex(mail.html!, /Hello Ann, <a href="http:\/\/localhost:3000\/c\//)
	t.true(mail.headers.some(({ key, value }) => key === 'precedence' && value === 'bulk'))
	t.like((await mails())[0], { status: 'SENT', attempt: 2 })
})

const notNow = { kind: 'DEFERRED', error: '451 not now', retryAfterMs: 60_000 } as const

/** A mail that a worker is handing over until it gets its answer. */
async function inHand(t: ExecutionContext) {
	const context = await sendingCampaign(t, 1)
	const answer = Promise.withResolvers<Outcome>()
	const asked = Promise.withResolvers<void>()
	const { provider } = scriptedProvider(() => {
		asked.resolve()
		return answer.promise
	})
	const worker = campaignWorker(context.pool, provider)
	const sending = context.send(worker)
	await asked.promise
	return { ...context, worker, sending, answer: answer.resolve }
}

test('a second turn in the same process does not doubt mails that the first is handing over', async (t) => {
	const { send, worker, sending, answer, pool, mails, query } = await inHand(t)
	const ask = pool.query.bind(pool)
	const looks = Promise.withResolvers<void>()
	let count = 0
	t.teardown(() => Object.assign(pool, { query: ask }))
	Object.assign(pool, {
		query(...given: Parameters<typeof ask>) {
			const { name } = given[0] as { name?: string }
			if (name === 'sending-in-campaign-lane' && ++count === 2) looks.resolve()
			return ask(...given)
		},
	})
	const second = send(worker)
	await Promise.race([looks.promise, second])
	answer(notNow)
	t.like(await sending, { settled: 0, left: 1 })
	t.like(await second, { settled: 0, left: 1 })
	t.like((await mails())[0], { status: 'PENDING', attempt: 1 })
	t.deepEqual(await query('select outcome from attempts'), [{ outcome: 'DEFERRED' }])
})

test('a doubted mail that was surely not taken is sent again while its campaign runs', async (t) => {
	for (const isOver of [false, true]) {
		const { pool, sending, answer, send, mails, query, act, activities, id } = await inHand(t)
		t.like(await send(campaignWorker(pool, scriptedProvider().provider)), { settled: 1, left: 0 })
		t.like((await mails())[0], { status: 'UNCERTAIN' })
		if (isOver) t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'sent' })
		answer(notNow)
		await sending
		t.like((await mails())[0], { status: isOver ? 'UNCERTAIN' : 'PENDING' })
		t.deepEqual(await query('select outcome from attempts'), [{ outcome: 'DEFERRED' }])
		t.like(await act(activities.advanceCampaign, id), { act: isOver ? 'end' : 'send' })
	}
})

test('a mail doubted while it is being recorded is sent again, too', async (t) => {
	const { pool, project, sending, answer, mails } = await inHand(t)
	const db = await pool.connect()
	t.teardown(() => db.release(true))
	await db.query('begin')
	const { id, attempt } = (await mails())[0]!
	await doubt(db, {
		projectId: project.id,
		mails: [{ id, attempt }],
		provider: 'smtp',
		isIdempotent: false,
	})
	answer(notNow)
	await lockWaits(t, pool, 1)
	await db.query('commit')
	await sending
	t.like((await mails())[0], { status: 'PENDING', error: '451 not now' })
})

test('a campaign does not end while a mail in it comes out of doubt', async (t) => {
	const { pool, project, id, query, get, act, activities, written } = await sendingCampaign(t, 1)
	await written(id)
	await query(`update emails set status = 'UNCERTAIN', attempt = 1, attempt_started_at = now()`)
	const db = await pool.connect()
	t.teardown(() => db.release(true))
	await db.query('begin')
	const [mail] = (await db.query<{ id: string }>('select id from emails')).rows
	const end = {
		id: mail!.id,
		attempt: 1,
		outcome: notNow.kind,
		status: 'PENDING' as const,
		providerMessageId: null,
		error: notNow.error,
		dueInMs: null,
	}
	await recordEnds(db, project.id, [{ end }])
	const advanced = act(activities.advanceCampaign, id)
	await lockWaits(t, pool, 1)
	await db.query('commit')
	t.like(await advanced, { act: 'send' })
	t.is((await get(id)).status, 'SENDING')
})
