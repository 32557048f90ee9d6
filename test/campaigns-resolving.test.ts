import test from 'ava'
import { sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { sumOf } from './helpers/campaigns.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { scriptedProvider } from './helpers/ledger.ts'
import { lockWaits } from './helpers/locks.ts'

async function uncertain(t: Parameters<typeof sendingCampaign>[0], people: number) {
	const context = await sendingCampaign(t, people)
	await context.written(context.id)
	await context.query(
		`update emails set status = 'UNCERTAIN', attempt = 1, first_attempt_at = now(),
			attempt_started_at = '2026-01-31T12:00:00Z'`,
	)
	const resolve = (as: string, id = context.id) => context.call('POST', `/${id}/resolve`, { as })
	return { ...context, resolve }
}

test('all uncertain mails of a campaign are taken as sent at once, each with its event', async (t) => {
	const { id, resolve, progress, mails, events, query } = await uncertain(t, 4100)
	await query(`update emails set status = 'FAILED' where "to" = 'user7@example.net'`)
	const answers = await Promise.all([resolve('sent'), resolve('sent')])
	const counts = answers.map((answer) => answer.json().resolved as number)
	t.is(counts[0]! + counts[1]!, 4099)
	const now = await progress(id)
	t.like(now, { total: 4100, sent: 4099, failed: 1, uncertain: 0, pending: 0 })
	t.is(sumOf(now), 4100)
	t.is(new Set((await events()).map(({ data }) => data.emailId)).size, 4099)
	t.is((await mails()).filter(({ status }) => status === 'SENT').length, 4099)
	t.deepEqual((await resolve('sent')).json(), { resolved: 0, uncertain: 0 })
})

test('a running campaign sends the mails that its owner wants retried', async (t) => {
	const { id, resolve, progress, pool, send, query, wakes } = await uncertain(t, 30)
	await query('delete from outbox')
	const before = wakes.count
	t.deepEqual((await resolve('retry')).json(), { resolved: 30, uncertain: 0 })
	t.is(wakes.count, before + 1)
	t.like(await progress(id), { total: 30, pending: 30, uncertain: 0 })
	t.deepEqual(await query('select workflow_id, kind from outbox'), [
		{ workflow_id: `campaign/${id}`, kind: 'signal' },
	])
	t.deepEqual(await query('select from queued_sends'), [])
	const { provider, handed } = scriptedProvider()
	t.like(await send(campaignWorker(pool, provider)), { settled: 30, left: 0 })
	t.is(handed.length, 30)
	t.deepEqual(await query('select distinct status, possible_repeat from emails'), [
		{ status: 'SENT', possible_repeat: true },
	])
})

test('a single mail that its owner wants retried is sent by its campaign while that is running', async (t) => {
	const { app, id, withSecretKey: headers, progress, pool, send, query } = await uncertain(t, 3)
	await query('delete from outbox')
	await query('update domains set verified_at = null')
	const [mail] = await query<{ id: string }>('select id from emails order by id limit 1')
	const again = () =>
		app.inject({
			method: 'POST',
			url: `/emails/${mail!.id}/resolve`,
			headers,
			payload: { as: 'retry' },
		})
	const answers = await Promise.all([again(), again()])
	t.deepEqual(
		answers.map(({ statusCode }) => statusCode).toSorted((one, other) => one - other),
		[200, 409],
	)
	t.deepEqual(await query('select workflow_id, kind from outbox'), [
		{ workflow_id: `campaign/${id}`, kind: 'signal' },
	])
	t.deepEqual(await query('select from queued_sends'), [])
	t.like(await progress(id), { total: 3, pending: 1, uncertain: 2 })
	await query('update domains set verified_at = now()')
	const { provider, handed } = scriptedProvider()
	await send(campaignWorker(pool, provider))
	t.is(handed.length, 1)
	t.like(await progress(id), { total: 3, sent: 1, uncertain: 2 })
})

test('a single mail that its owner wants retried makes a campaign that is about to end wait for it', async (t) => {
	const { app, id, withSecretKey: headers, pool, query } = await uncertain(t, 3)
	const [mail] = await query<{ id: string }>('select id from emails order by id limit 1')
	const lock = await pool.connect()
	await lock.query('begin')
	await lock.query(`update campaigns set status = 'SENT' where id = $1`, [id])
	const payload = { as: 'retry' }
	const url = `/emails/${mail!.id}/resolve`
	const answer = app.inject({ method: 'POST', url, headers, payload })
	await lockWaits(t, pool, 1)
	await lock.query('commit')
	lock.release()
	t.is((await answer).statusCode, 200)
	t.deepEqual(await query('select email_ids from queued_sends'), [{ email_ids: [mail!.id] }])
})

test('mails of a campaign that is SENT already are tried again as single mails', async (t) => {
	const { id, resolve, progress, pool, query, act, activities } = await uncertain(t, 30)
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'sent' })
	t.deepEqual((await resolve('retry')).json(), { resolved: 30, uncertain: 0 })
	const { provider, handed } = scriptedProvider()
	t.like(await campaignWorker(pool, provider).deliver(), { left: 0 })
	t.is(handed.length, 30)
	t.like(await progress(id), { total: 30, sent: 30, pending: 0 })
	t.deepEqual(await query('select status from campaigns'), [{ status: 'SENT' }])
})

test('mails of a campaign that is SENT are not tried again once its sender’s domain is lost', async (t) => {
	const { id, resolve, query, act, activities } = await uncertain(t, 3)
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'sent' })
	await query('update domains set verified_at = null')
	isEnvelope(t, await resolve('retry'), 403, 'INTERNAL_SERVER_ERROR')
	t.deepEqual(await query('select from queued_sends'), [])
	t.deepEqual(await query('select distinct status from emails'), [{ status: 'UNCERTAIN' }])
	await query('delete from domains')
	isEnvelope(t, await resolve('retry'), 403, 'INTERNAL_SERVER_ERROR')
	t.deepEqual((await resolve('sent')).json(), { resolved: 3, uncertain: 0 })
})

for (const type of ['MARKETING', 'TRANSACTIONAL'])
	test(`a ${type} mail that is tried again does not leave if its contact was deleted`, async (t) => {
		const { id, resolve, pool, query, act, activities } = await uncertain(t, 3)
		await query('update campaigns set type = $1', [type])
		t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'sent' })
		await query(`delete from contacts where email = 'user1@example.net'`)
		t.deepEqual((await resolve('retry')).json(), { resolved: 3, uncertain: 0 })
		const { provider, handed } = scriptedProvider()
		await campaignWorker(pool, provider).deliver()
		t.is(handed.length, 2)
		t.deepEqual(await query(`select status, error from emails where "to" = 'user1@example.net'`), [
			{ status: 'CANCELLED', error: 'The contact was deleted' },
		])
	})

test('only mails of this campaign are resolved, and only as sent or retry', async (t) => {
	const { id, resolve, query, call, create, otherProject } = await uncertain(t, 3)
	const { id: draft } = await create()
	t.deepEqual((await resolve('sent', draft)).json(), { resolved: 0, uncertain: 0 })
	const { errors } = isEnvelope(t, await resolve('lost'), 422, 'VALIDATION_ERROR')
	t.like(errors[0], { field: 'as', code: 'invalid_enum_value' })
	isEnvelope(t, await call('POST', `/${id}/resolve`), 422, 'VALIDATION_ERROR')
	const wrong = await call('POST', `/${id}/resolve`, { as: 'sent', status: 'FAILED' })
	isEnvelope(t, wrong, 422, 'VALIDATION_ERROR')
	isEnvelope(t, await resolve('sent', crypto.randomUUID()), 404, 'CAMPAIGN_NOT_FOUND')
	const { withSecretKey: theirs } = await otherProject()
	const foreign = await call('POST', `/${id}/resolve`, { as: 'sent' }, theirs)
	isEnvelope(t, foreign, 404, 'CAMPAIGN_NOT_FOUND')
	t.deepEqual(await query('select distinct status from emails'), [{ status: 'UNCERTAIN' }])
})
