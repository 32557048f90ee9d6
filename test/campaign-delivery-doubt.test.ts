import test from 'ava'
import PostalMime from 'postal-mime'
import type { Outcome } from '../activities/providers/provider.ts'
import { claimSlice } from '../db/campaigns/campaign-ledger.ts'
import { overSmtp, sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { scriptedProvider } from './helpers/ledger.ts'

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

test('a mail in doubt that its owner sends once more is the same mail', async (t) => {
	const { worker, sink, mails, query, app, withSecretKey } = await overSmtp(t, 1)
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
	t.like(await worker.deliver(), { left: 0 })
	const mail = await PostalMime.parse(sink.mails[0]!.raw)
	t.is(mail.subject, 'Hello Ann')
	t.regex(mail.html!, /Hello Ann, <a href="http:\/\/localhost:3000\/c\//)
	t.true(mail.headers.some(({ key, value }) => key === 'precedence' && value === 'bulk'))
	t.like((await mails())[0], { status: 'SENT', attempt: 2 })
})
