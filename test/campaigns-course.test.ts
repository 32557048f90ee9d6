import test from 'ava'
import {
	cancelCampaignsOf,
	pauseCampaignsOf,
	resumeCampaignsOf,
} from '../db/campaigns/campaign-actions.ts'
import { freezeChunk } from '../db/campaigns/audience-pages.ts'
import {
	openCampaigns as campaignsOnTheirWay,
	restartCampaigns,
} from '../db/campaigns/lost-campaigns.ts'
import { sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { openCampaigns, plan } from './helpers/campaigns.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { scriptedProvider } from './helpers/ledger.ts'

test('the audience is fixed at the start: each contact once, with the data for its mail', async (t) => {
	const { call, contacts, create, act, activities, recipients, query, get, project } =
		await openCampaigns(t)
	await contacts(3, { data: { plan: 'pro' } }, 'pro')
	await contacts(2, { data: { plan: 'free' } }, 'free')
	await contacts(1, { data: { plan: 'pro' }, subscribed: false }, 'gone')
	const audience = { audienceType: 'FILTERED', audienceCondition: plan('pro') }
	const { id } = await create({ ...audience, replyTo: 'reply@example.com' })
	await call('POST', `/${id}/send`)
	await contacts(2, { data: { plan: 'pro' } }, 'late')
	await query(
		`insert into suppressions (project_id, email, reason) values ($1, 'pro0@example.net', 'MANUAL')`,
		[project.id],
	)
	await query(
		`update contacts set created_at = now() + interval '1 minute' where email like 'late%'`,
	)
	await act(activities.materialiseCampaign, id)
	t.deepEqual(await recipients(id), ['pro1@example.net', 'pro2@example.net'])
	t.like(await get(id), { status: 'SENDING', totalRecipients: 2 })
})

test('workers that freeze the same audience at once take each contact once', async (t) => {
	const { pool, call, contacts, create, act, activities, recipients, project, get } =
		await openCampaigns(t)
	await contacts(45_000)
	const { id } = await create()
	await call('POST', `/${id}/send`)
	t.like(await act(activities.advanceCampaign, id), { act: 'materialise', lanes: 4 })
	const worker = async () => {
		while (await freezeChunk(pool, project.id, id, 20_000));
	}
	await Promise.all([worker(), worker(), worker(), act(activities.materialiseCampaign, id)])
	t.is(new Set(await recipients(id)).size, 45_000)
	t.is((await recipients(id)).length, 45_000)
	t.is((await get(id)).totalRecipients, 45_000)
})

test('lanes share the recipients in equal parts', async (t) => {
	const { contacts, frozen, query } = await openCampaigns(t)
	await contacts(10_001)
	await frozen()
	const pages = await query<{ lane: number; size: number }>(
		`select width_bucket(contact_id, lane_bounds) - (contact_id = any(lane_bounds))::int as lane,
			count(*)::int as size
		from campaigns, audience_pages cross join lateral unnest(contact_ids) contact_id
		group by 1, until, size having count(*) = size order by 1, until`,
	)
	const shares = [0, 1, 2, 3].map((lane) =>
		pages.filter((page) => page.lane === lane).reduce((sum, { size }) => sum + size, 0),
	)
	t.deepEqual(shares, [2500, 2500, 2500, 2501])
})

test('a small campaign has one lane, and one with an empty audience is SENT', async (t) => {
	const { contacts, create, call, act, activities, query, get, progress } = await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	await call('POST', `/${id}/send`)
	await query('update contacts set subscribed = false')
	t.like(await act(activities.advanceCampaign, id), { act: 'materialise' })
	await act(activities.materialiseCampaign, id)
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'sent', total: 0 })
	t.like(await get(id), { status: 'SENT', totalRecipients: 0, sentCount: 0 })
	t.like(await progress(id), { total: 0, pending: 0, etaSeconds: 0 })
})

test('after an early cancellation no more of the audience is frozen, and all are skipped', async (t) => {
	const { pool, contacts, create, call, act, activities, progress, project, states } =
		await openCampaigns(t)
	await contacts(20_500)
	const { id } = await create()
	await call('POST', `/${id}/send`)
	t.like(await act(activities.advanceCampaign, id), { act: 'materialise' })
	t.true(await freezeChunk(pool, project.id, id, 20_000))
	await call('POST', `/${id}/cancel`)
	t.false(await freezeChunk(pool, project.id, id, 20_000))
	t.like(await progress(id), { total: 20_500, pending: 0, skipped: 20_500, etaSeconds: 0 })
	t.like(await act(activities.advanceCampaign, id), { act: 'cancel' })
	await act(activities.cancelRecipients, id)
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'cancelled' })
	t.deepEqual(await states(id), { CANCELLED: 20_000 })
	t.like(await progress(id), { total: 20_500, skipped: 20_500 })
})

test('mails of a cancelled campaign that a lost worker was handing over end in doubt', async (t) => {
	const { contacts, started, act, activities, call, query, states } = await openCampaigns(t)
	await contacts(2)
	const id = await started()
	await query(`update emails set status = 'SENDING', attempt = 1, attempt_started_at = now()`)
	await call('POST', `/${id}/cancel`)
	t.like(await act(activities.advanceCampaign, id), { act: 'wait', waitMs: 5000 })
	t.deepEqual(await states(id), { SENDING: 2 })
	await query(`update emails set attempt_started_at = now() - interval '3 minutes'`)
	// Until two minutes after the cancellation, nobody looks for them among all mails.
	t.like(await act(activities.advanceCampaign, id), { act: 'wait', waitMs: 5000 })
	t.deepEqual(await states(id), { SENDING: 2 })
	await query(`update campaigns set updated_at = now() - interval '3 minutes'`)
	t.like(await act(activities.advanceCampaign, id), { act: 'wait' })
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'cancelled' })
	t.deepEqual(await states(id), { UNCERTAIN: 2 })
})

test('a disabled project’s campaigns are cancelled, at once or when they are due', async (t) => {
	const { pool, contacts, create, started, call, query, project, get, act, activities } =
		await openCampaigns(t)
	await contacts(1)
	const draft = (await create()).id
	const sending = await started()
	const later = (await create()).id
	await call('POST', `/${later}/send`, { scheduledFor: '2099-01-01' })
	await query('delete from outbox')
	t.is((await cancelCampaignsOf(pool, { projectId: project.id, taskQueue: 'core' })).length, 2)
	for (const id of [sending, later])
		t.like(await get(id), { status: 'CANCELLED', cancelledReason: 'PROJECT_DISABLED' })
	t.is((await get(draft)).status, 'DRAFT')
	t.is((await query(`select from outbox where kind = 'signal'`)).length, 2)

	await call('POST', `/${draft}/send`, { scheduledFor: '1970-01-01' })
	await query(`update projects set disabled_reason = 'EMAIL_REPUTATION'`)
	t.like(await act(activities.advanceCampaign, draft), { act: 'end', said: 'cancelled' })
	t.like(await get(draft), {
		status: 'CANCELLED',
		cancelledReason: 'PROJECT_DISABLED',
		totalRecipients: 1,
	})
})

test('a scheduled campaign starts when its time has come, and not before', async (t) => {
	const { contacts, create, call, query, act, activities, get } = await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	await call('POST', `/${id}/send`, { scheduledFor: new Date(Date.now() + 90_000).toISOString() })
	const wait = (await act(activities.advanceCampaign, id)) as { act: string; waitMs: number }
	t.is(wait.act, 'wait')
	t.true(wait.waitMs > 30_000 && wait.waitMs <= 90_000)
	t.is((await get(id)).status, 'SCHEDULED')
	await call('POST', `/${id}/send`, { scheduledFor: '2099-01-01' })
	t.like(await act(activities.advanceCampaign, id), { act: 'wait', waitMs: 30 * 24 * 3_600_000 })
	await query(`update campaigns set scheduled_for = now()`)
	t.like(await act(activities.advanceCampaign, id), { act: 'materialise' })
	t.is((await get(id)).status, 'SENDING')
})

test('a scheduled campaign waits if its project has lost the domain, until it is verified again', async (t) => {
	const { contacts, create, call, query, act, activities, get } = await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	await call('POST', `/${id}/send`, { scheduledFor: '2099-01-01' })
	await query('update campaigns set scheduled_for = now()')
	await query('update domains set verified_at = null')
	t.like(await act(activities.advanceCampaign, id), { act: 'wait', waitMs: null })
	t.like(await get(id), { status: 'SENDING', pausedReason: 'SENDER' })
	isEnvelope(t, await call('POST', `/${id}/resume`), 403, 'INTERNAL_SERVER_ERROR')
	await query('update domains set verified_at = now()')
	t.is((await call('POST', `/${id}/resume`)).statusCode, 200)
	t.like(await act(activities.advanceCampaign, id), { act: 'materialise' })
})

test('a campaign that is being sent is paused when its project has lost the domain, however it is continued', async (t) => {
	const { pool, contacts, started, query, act, activities, get, project } = await openCampaigns(t)
	await contacts(2)
	const id = await started()
	await query('update domains set verified_at = null')
	t.like(await act(activities.advanceCampaign, id), { act: 'wait', waitMs: null })
	t.like(await get(id), { status: 'SENDING', pausedReason: 'SENDER' })
	await query(`update campaigns set paused_reason = 'BILLING_LIMIT'`)
	const limit = { projectId: project.id, taskQueue: 'core', reason: 'BILLING_LIMIT' }
	await resumeCampaignsOf(pool, limit)
	t.like(await get(id), { pausedReason: null })
	t.like(await act(activities.advanceCampaign, id), { act: 'wait', waitMs: null })
	t.like(await get(id), { status: 'SENDING', pausedReason: 'SENDER' })
})

test('a campaign that is paused as its last mails leave is SENT, not paused', async (t) => {
	const { id, pool, send, query, act, activities, get } = await sendingCampaign(t, 2)
	t.like(await send(campaignWorker(pool, scriptedProvider().provider)), { left: 0 })
	await query(`update campaigns set paused_at = now(), paused_reason = 'BILLING_LIMIT'`)
	t.like(await act(activities.advanceCampaign, id), { act: 'end', said: 'sent' })
	t.like(await get(id), { status: 'SENT', pausedAt: null, pausedReason: null })
})

test('a billing limit pauses the campaigns it covers, and their owner may resume them', async (t) => {
	const { pool, contacts, started, call, project, get, act, activities } = await openCampaigns(t)
	await contacts(1)
	const marketing = await started()
	const transactional = await started({ type: 'TRANSACTIONAL' })
	await pauseCampaignsOf(pool, {
		projectId: project.id,
		taskQueue: 'core',
		reason: 'BILLING_LIMIT',
		mailTypes: ['MARKETING', 'HEADLESS'],
	})
	t.like(await get(marketing), { status: 'SENDING', pausedReason: 'BILLING_LIMIT' })
	t.is((await get(transactional)).pausedAt, null)
	t.like(await act(activities.advanceCampaign, marketing), { act: 'wait', waitMs: null })
	t.is((await call('POST', `/${marketing}/resume`)).statusCode, 200)
	t.like(await act(activities.advanceCampaign, marketing), { act: 'send', lanes: 1 })
})

test('a campaign whose audience cannot be frozen is paused until its owner retries', async (t) => {
	const { contacts, create, call, act, activities, query, get } = await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	await call('POST', `/${id}/send`)
	await query(`alter table audience_pages add constraint never check (size = 0)`)
	await t.throwsAsync(() => act(activities.materialiseCampaign, id), { message: /never/ })
	await act(activities.holdCampaign, id)
	t.like(await get(id), { status: 'SENDING', pausedReason: 'FAULT' })
	t.like(await act(activities.advanceCampaign, id), { act: 'wait', waitMs: null })
	await query('alter table audience_pages drop constraint never')
	await call('POST', `/${id}/resume`)
	t.like(await act(activities.advanceCampaign, id), { act: 'materialise' })
})

test('a campaign that Temporal has forgotten is found after five minutes, and started again', async (t) => {
	const { pool, contacts, create, call, query } = await openCampaigns(t)
	await contacts(1)
	const { id } = await create()
	const age = () => query(`update campaigns set updated_at = now() - interval '6 minutes'`)
	const found = async () =>
		(await campaignsOnTheirWay(pool, { limit: 10 })).map((campaign) => campaign.id)
	await age()
	t.deepEqual(await found(), [], 'a draft')
	await call('POST', `/${id}/send`, { scheduledFor: '2099-01-01' })
	t.deepEqual(await found(), [], 'it has only just moved')
	await age()
	t.deepEqual(await found(), [], 'Temporal is yet to be told')
	await query('update outbox set done_at = now()')
	t.deepEqual(await found(), [], 'its time is far')
	await query(`update campaigns set scheduled_for = now() + interval '9 minutes'`)
	t.deepEqual(await found(), [id])
	await restartCampaigns(pool, {
		runs: await campaignsOnTheirWay(pool, { limit: 10 }),
		taskQueue: 'core',
	})
	const [start] = await query(
		`select workflow_type, workflow_id, payload->>'campaignId' as about from outbox where done_at is null`,
	)
	t.deepEqual(start, { workflow_type: 'campaign', workflow_id: `campaign/${id}`, about: id })
	t.deepEqual(await found(), [])
	await call('POST', `/${id}/cancel`)
	await query(`update campaigns set closed_at = now()`)
	await query('update outbox set done_at = now()')
	await age()
	t.deepEqual(await found(), [], 'nothing is left of it to do')
})
