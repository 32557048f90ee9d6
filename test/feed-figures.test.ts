import test from 'ava'
import { whole } from './helpers/campaigns.ts'
import { setupEngagements } from './helpers/engagements.ts'
import { delayStep, waitStep } from './helpers/executions.ts'
import { setupFeed } from './helpers/feed.ts'

const hourMs = 3_600_000
const hoursAgo = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString()

interface Upcoming {
	activities: {
		id: string
		type: string
		timestamp: string
		contactEmail?: string
		metadata: object
	}[]
}

test('statistics count each mail once, if it was sent in the given time', async (t) => {
	const { contact, freeze, get, happen, mail, track } = await setupFeed(t)
	const sent_at = hoursAgo(50)
	await mail({ sent_at })
	await mail({ sent_at, opened_at: hoursAgo(40) })
	await mail({ sent_at, opened_at: hoursAgo(2), clicked_at: hoursAgo(1) })
	await mail({ sent_at: hoursAgo(24 * 40), opened_at: hoursAgo(1) })
	await mail({ sent_at: hoursAgo(24 * 40), delivered_at: hoursAgo(3) })
	await mail({ sent_at: hoursAgo(24 * 40), bounced_at: hoursAgo(3) })
	await mail()
	for (const name of ['email.open', 'email.complaint', 'order']) await happen(name, [hoursAgo(1)])
	await contact()
	await freeze({ on: 'bought', steps: [delayStep(1, 'days')] })
	await track('bought')
	t.deepEqual(await get('/activity/stats'), {
		totalEvents: 2,
		totalEmailsSent: 3,
		totalEmailsDelivered: 1,
		totalEmailsOpened: 2,
		totalEmailsClicked: 1,
		totalEmailsBounced: 1,
		totalEmailsComplained: 1,
		totalWorkflowsStarted: 1,
		openRate: 66.67,
		clickRate: 33.33,
	})
	t.like(await get(`/activity/stats?startDate=${hoursAgo(24 * 41)}&endDate=${hoursAgo(24 * 39)}`), {
		totalEvents: 0,
		totalEmailsSent: 3,
		totalEmailsOpened: 1,
		totalWorkflowsStarted: 0,
		openRate: 33.33,
	})
	t.like(await get(`/activity/stats?startDate=${hoursAgo(1)}`), { totalEmailsSent: 0, openRate: 0 })
})

test('opens and clicks are listed each time, and counted once', async (t) => {
	const { fold, get, handedOver, app, withSecretKey } = await setupEngagements(t)
	const { id, open, click } = await handedOver()
	for (const address of [click, open, open, click]) {
		await get(address)
		await fold()
	}
	const ask = async (url: string) => (await app.inject({ url, headers: withSecretKey })).json()
	const { data, total } = await ask('/activity?types=email.opened,email.clicked')
	t.is(total, 4)
	t.deepEqual(
		data.map(({ type, metadata }: { type: string; metadata: { emailId: string } }) => [
			type,
			metadata.emailId,
		]),
		['clicked', 'opened', 'opened', 'clicked'].map((what) => [`email.${what}`, id]),
	)
	t.like(await ask('/activity/stats'), {
		totalEmailsSent: 1,
		totalEmailsOpened: 1,
		totalEmailsClicked: 1,
		openRate: 100,
		clickRate: 100,
	})
	const days: Record<'emails' | 'opens' | 'clicks', number>[] = await ask('/analytics/timeseries')
	for (const column of ['emails', 'opens', 'clicks'] as const)
		t.is(
			days.reduce((sum, day) => sum + day[column], 0),
			1,
		)
})

test('the recent count is that of the last minutes, sixty at most', async (t) => {
	const { get, happen, mail } = await setupFeed(t)
	await happen('email.open', [hoursAgo(0.01)])
	await mail({ status: 'FAILED' })
	// Last, because the bound is six seconds from one of them.
	const minutes = [0, 4.9, 5.1, 30, 59, 61, 90]
	await happen(
		'order',
		minutes.map((ago) => hoursAgo(ago / 60)),
	)
	t.deepEqual(await get('/activity/recent-count'), { count: 4, minutes: 5 })
	t.deepEqual(await get('/activity/recent-count?minutes=6'), { count: 5, minutes: 6 })
	t.deepEqual(await get('/activity/recent-count?minutes=1000'), { count: 7, minutes: 60 })
})

test('upcoming activities are listed soonest first: campaigns, and executions by when they wake', async (t) => {
	const { advance, call, contact, freeze, get, select, track } = await setupFeed(t)
	await contact('ann@example.org')
	await freeze({ on: 'sleeping', steps: [delayStep(2, 'days')], name: 'Sleeper' })
	await freeze({ on: 'late', steps: [delayStep(40, 'days')], name: 'Late' })
	await freeze({ on: 'waiting', steps: [waitStep('never')], name: 'Waiter' })
	for (const name of ['sleeping', 'late', 'waiting']) await track(name)
	for (const { id } of await select<{ id: string }>('select id from executions')) await advance(id)
	const campaign = async (inDays: number) => {
		const { id } = (await call('POST', '/campaigns', whole)).json().data
		const scheduledFor = hoursAgo(-24 * inDays)
		t.is((await call('POST', `/campaigns/${id}/send`, { scheduledFor })).statusCode, 200)
		return id as string
	}
	const soon = await campaign(1)
	await campaign(35)

	const told = async (query = '') => (await get<Upcoming>(`/activity/upcoming${query}`)).activities
	const all = await told('?daysAhead=1000')
	t.deepEqual(
		all.map(({ type, metadata }) => [
			type,
			Object.values(metadata).find((v) => /^[A-Z][a-z]+$/.test(String(v))),
		]),
		[
			['workflow.active', 'Waiter'],
			['campaign.scheduled', 'Spring'],
			['workflow.active', 'Sleeper'],
			['campaign.scheduled', 'Spring'],
			['workflow.active', 'Late'],
		],
	)
	t.is(all[1]!.id, soon)
	t.like(all[0], { contactEmail: 'ann@example.org', metadata: { waitsFor: 'never' } })
	t.deepEqual(await told(), all.slice(0, 3))
	t.deepEqual(await told('?limit=2'), all.slice(0, 2))
	await call('POST', `/campaigns/${soon}/cancel`)
	await call(
		'DELETE',
		`/contacts/${(await select<{ id: string }>('select id from contacts'))[0]!.id}`,
	)
	t.deepEqual(await told(), [])
})
