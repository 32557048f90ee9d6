import test, { type ExecutionContext } from 'ava'
import { advance } from '../activities/automations/advance.ts'
import { judgeUsage } from '../activities/billing/usage-watch.ts'
import { receiveMail } from '../db/emails/inbound.ts'
import { platformProjectId } from '../db/emails/platform-mail.ts'
import { createProject, startApp } from './helpers/app.ts'
import { setupBilling } from './helpers/billing.ts'
import { mailStep, setupExecutions } from './helpers/executions.ts'
import { hold } from './helpers/locks.ts'
import { subscription } from './helpers/stripe-fake.ts'

/** With a subscription, only the members' limits apply. */
async function setupLimits(t: ExecutionContext) {
	const all = await setupBilling(t)
	const { customer, subscriptions, tell, route, pool, execute, project } = all
	const id = await customer()
	subscriptions.set(id, [subscription('active')])
	await tell('customer.subscription.created', id)
	const wakes = { count: 0 }
	return {
		...all,
		wakes,
		limit: (limits: object) => route('PUT', 'billing-limits', limits),
		judge: () =>
			judgeUsage({
				pool,
				relay: { wake: () => void wakes.count++ },
				settings: { platformFrom: 'noreply@tempost.example' },
			}),
		told: () =>
			execute<{ to: string; subject: string; body: string }>(
				'select "to", subject, body from emails where project_id = $1 order by id',
				[platformProjectId],
			),
		campaign: async (columns = '') => {
			const [row] = await execute<{ id: string }>(
				`insert into campaigns (project_id, name, subject, body, "from", audience_type, status)
				values ($1, 'C', 's', 'b', 'a@example.com', 'ALL', 'SENDING') returning id`,
				[project.id],
			)
			if (columns) await execute(`update campaigns set ${columns} where id = $1`, [row!.id])
			return async () =>
				(
					await execute<{ reason: string | null; paused: boolean }>(
						'select paused_reason as reason, paused_at is not null as paused from campaigns where id = $1',
						[row!.id],
					)
				)[0]!
		},
	}
}

const written = `select (select count(*) from emails)::int as emails, (select count(*) from contacts)::int as contacts,
	(select count(*) from queued_sends)::int as queued`

test('without a subscription a thousand mails of any kind are free each month; a send beyond writes nothing', async (t) => {
	const { use, send, execute, route, orm, withSecretKey } = await setupBilling(t)
	await use('campaigns', 600)
	await use('inbound', 390)
	t.is(
		(await send({ to: Array.from({ length: 9 }, (_, i) => `a${i}@example.org`) })).statusCode,
		200,
	)
	const before = await execute(written)
	const two = await send({ to: ['x@example.org', 'y@example.org'] })
	t.is(two.statusCode, 429)
	t.like(two.json().error, {
		code: 'BILLING_LIMIT_EXCEEDED',
		details: { category: 'total', limit: 1000, usage: 999, requested: 2 },
	})
	t.deepEqual(await execute(written), before)
	t.is((await send()).statusCode, 200, 'the last one has room')
	t.is((await send()).statusCode, 429)
	const limits = (await route('GET', 'billing-limits')).json()
	t.like(limits.workflows, { limit: null, usage: 0, isBlocked: true })

	const { app: unbilled } = await startApp(t, orm)
	const payload = { to: 'a@example.org', from: 'app@example.com', subject: 'Hi', body: 'x' }
	const free = { method: 'POST', url: '/v1/send', headers: withSecretKey, payload } as const
	t.is((await unbilled.inject(free)).statusCode, 200, 'where nobody pays nothing is limited')
})

test('a limit is about its own category: at 100 % requests are refused until it is raised', async (t) => {
	const { limit, use, send } = await setupLimits(t)
	await limit({ transactional: 4, campaigns: 1 })
	await use('campaigns', 50)
	const attachments = [{ filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' }]
	t.is((await send({ attachments })).statusCode, 200)
	const refused = await send({ attachments, to: ['a@example.org', 'b@example.org'] })
	t.like(refused.json().error.details, {
		category: 'transactional',
		limit: 4,
		usage: 2,
		requested: 4,
	})
	t.is((await send()).statusCode, 200)
	t.is((await send()).statusCode, 200)
	t.is((await send()).json().error.code, 'BILLING_LIMIT_EXCEEDED')
	await limit({ transactional: 5 })
	t.is((await send()).statusCode, 200)
	await limit({ transactional: null })
	t.is((await send()).statusCode, 200)
})

test('simultaneous requests are accepted only up to the limit', async (t) => {
	const { limit, send, execute } = await setupLimits(t)
	await limit({ transactional: 7 })
	const answers = await Promise.all(
		Array.from({ length: 12 }, (_, i) => send({ to: `a${i}@example.org` })),
	)
	const answered = (status: number) =>
		answers.filter(({ statusCode }) => statusCode === status).length
	t.deepEqual([answered(200), answered(429)], [7, 5])
	t.like((await execute(written))[0], { emails: 7, queued: 7 })
})

test('simultaneous large requests are accepted only up to the limit, however much is left', async (t) => {
	const { limit, app, pool, project, execute, withSecretKey } = await setupLimits(t)
	await execute(
		`insert into domains (project_id, domain, verified_at) values ($1, 'example.org', now())`,
		[project.id],
	)
	await limit({ transactional: 6100 })
	// Messages with two senders are read apart from other requests.
	const payloadOf = (n: number) =>
		['app@example.com', 'app@example.org'].map((from) => ({
			to: Array.from({ length: 500 }, (_, i) => `a${i}@${n}.example`),
			from,
			subject: 'Hi',
			body: 'x',
		}))
	const held = await hold(pool, 'templates')
	const answers = Array.from({ length: 8 }, (_, n) =>
		app.inject({
			method: 'POST',
			url: '/v1/send/batch',
			headers: withSecretKey,
			payload: payloadOf(n),
		}),
	)
	await held.waiting(8)
	await held.letGo()
	const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode)
	const answered = (status: number) => statuses.filter((one) => one === status).length
	t.deepEqual([answered(200), answered(429)], [6, 2])
	t.like((await execute(written))[0], { emails: 6000 })
})

test('a refused request leaves its idempotency key to be used again', async (t) => {
	const { limit, send, withSecretKey } = await setupLimits(t)
	await limit({ transactional: 1 })
	await send()
	const headers = { ...withSecretKey, 'idempotency-key': 'one' }
	t.is((await send({}, headers)).statusCode, 429)
	await limit({ transactional: 2 })
	t.is((await send({}, headers)).statusCode, 200)
})

test('mail that failed makes room again', async (t) => {
	const { limit, send, execute } = await setupLimits(t)
	await limit({ transactional: 1 })
	await send()
	t.is((await send()).statusCode, 429)
	await execute(`update emails set status = 'SUPPRESSED'`)
	t.is((await send()).statusCode, 200)
})

test('mail that a reset destroys before it leaves makes room again, other mail stays counted', async (t) => {
	const { send, execute, route } = await setupLimits(t)
	const idOf = async (changes: object = {}) => {
		const answer = await send(changes)
		t.is(answer.statusCode, 200)
		return answer.json().data.emails[0].email as string
	}
	const used = async () => (await route('GET', 'billing-limits')).json().transactional.usage
	const set = (id: string, columns: string) =>
		execute(`update emails set ${columns} where id = $1`, [id])
	const attachments = [{ filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' }]
	await idOf({ attachments })
	await idOf({ delivery: { at: new Date(Date.now() + 3_600_000).toISOString() } })
	await set(await idOf(), `status = 'CANCELLED'`)
	await set(await idOf(), `status = 'SENT', sent_at = now()`)
	await set(await idOf(), `status = 'SENDING', attempt = 1, attempt_started_at = now()`)
	t.is(await used(), 5)
	t.is((await route('POST', 'reset')).statusCode, 200)
	t.is(await used(), 2)
})

test('the members are notified at 80 % and at 100 %, once a month and category', async (t) => {
	const { limit, use, judge, told, execute, wakes } = await setupLimits(t)
	await limit({ transactional: 100, inbound: 10 })
	await use('transactional', 79)
	await judge()
	t.deepEqual(await told(), [])
	await use('transactional', 1)
	await Promise.all([judge(), judge()])
	await judge()
	const first = await told()
	t.deepEqual(
		first.map(({ to }) => to),
		['admin@example.org', 'member@example.org'],
	)
	t.regex(first[0]!.subject, /nearly reached: Test project/)
	t.regex(first[0]!.body, /80 of its 100 mails/)
	t.true(wakes.count > 0)
	await use('transactional', 30)
	await judge()
	await use('transactional', 1)
	await judge()
	t.is((await told()).length, 4)
	t.regex((await told())[3]!.subject, /A limit is reached/)
	await use('inbound', 8)
	await judge()
	t.is((await told()).length, 6)
	await execute(`update usage_notices set month = month - interval '1 month'`)
	await use('inbound', 1)
	await judge()
	t.is((await told()).length, 10, 'a new month')
})

test('a limit that is changed has its own notices, also if nothing is used after that', async (t) => {
	const { limit, use, judge, told } = await setupLimits(t)
	const notices = async () => {
		await judge()
		return (await told()).slice(-2).map(({ subject }) => subject.replace(/ reached: .*/, ''))
	}
	await limit({ transactional: 100, inbound: 10 })
	await use('transactional', 80)
	t.deepEqual(await notices(), ['A limit is nearly', 'A limit is nearly'])
	await limit({ transactional: 100, inbound: 20 })
	await notices()
	t.is((await told()).length, 2, 'the same limit')
	await limit({ transactional: 200 })
	await notices()
	t.is((await told()).length, 2, 'far from it')
	await use('transactional', 80)
	await notices()
	t.is((await told()).length, 4)
	await limit({ transactional: 150 })
	t.deepEqual(await notices(), ['A limit is', 'A limit is'])
	t.is((await told()).length, 6)
})

for (const [change, act] of [
	['a month that ends', `update usage_counts set month = month - interval '1 month'`],
	['a limit that is raised', 'update billing_accounts set transactional_limit = 200'],
] as const)
	test(`${change} while a notice is prepared is not mistaken for what follows it`, async (t) => {
		const { limit, use, judge, told, pool } = await setupLimits(t)
		await limit({ transactional: 100 })
		await use('transactional', 80)
		const notices = await hold(pool, 'usage_notices')
		const judging = judge()
		await notices.waiting(1)
		await notices.query(act)
		await notices.letGo()
		await judging
		t.is((await told()).length, 0)
		await use('transactional', 80)
		await judge()
		t.is((await told()).length, 2)
	})

test('campaigns wait at a limit and go on when it is raised; a campaign paused by a user stays paused', async (t) => {
	const { limit, use, judge, campaign, execute, wakes } = await setupLimits(t)
	await limit({ campaigns: 10 })
	const running = await campaign()
	const paused = await campaign(`paused_at = now(), paused_reason = 'OWNER'`)
	await use('campaigns', 9)
	await judge()
	t.deepEqual(await running(), { reason: null, paused: false })
	await use('campaigns', 1)
	const before = wakes.count
	await judge()
	t.deepEqual(await running(), { reason: 'BILLING_LIMIT', paused: true })
	t.true(wakes.count > before)
	t.is((await execute(`select from outbox where workflow_id like 'campaign/%'`)).length, 1)
	const late = await campaign()
	await judge()
	t.deepEqual(await late(), { reason: 'BILLING_LIMIT', paused: true })
	await limit({ campaigns: 11 })
	await judge()
	t.deepEqual(await running(), { reason: null, paused: false })
	t.deepEqual(await paused(), { reason: 'OWNER', paused: true })
})

test('other projects have limits of their own', async (t) => {
	const { limit, use, judge, campaign, execute, project, orm } = await setupLimits(t)
	const running = await campaign()
	await limit({ campaigns: 10 })
	const { project: other } = await createProject(orm)
	await use('campaigns', 9)
	await execute(
		`insert into usage_tallies (project_id, month, category, used, sent)
		select $1, month, category, 999, 999 from usage_tallies where project_id = $2`,
		[other.id, project.id],
	)
	await judge()
	t.false((await running()).paused)
})

test('a step that sends at the limit creates a failed mail with that reason, and the execution continues', async (t) => {
	const { freeze, contact, track, executionId, pool, project, mails, select } =
		await setupExecutions(t)
	await contact()
	await select(
		`insert into billing_accounts (project_id, subscribed, workflows_limit) values ('${project.id}', true, 1)`,
	)
	await freeze({ on: 'x', steps: [mailStep, mailStep] })
	await track('x')
	const key = { projectId: project.id, executionId: await executionId() }
	const settings = { publicUrl: 'https://mail.example.com', hasBilling: true }
	const stop = await advance({ pool, relay: { wake() {} }, settings }, key, 0)
	t.like(stop, { do: 'END', about: 'COMPLETED' })
	const [first, second] = await mails()
	t.like(first, { status: 'PENDING' })
	t.like(second, {
		status: 'FAILED',
		error: "This month's limit of 1 mails is reached (workflows)",
	})
})

test('incoming mail beyond the limit is not accepted', async (t) => {
	const { limit, execute, pool } = await setupLimits(t)
	await limit({ inbound: 1 })
	const mail = {
		from: 'a@example.org',
		fromName: null,
		to: ['help@example.com'],
		subject: 'Hi',
		messageId: null,
		providerMessageId: null,
	}
	const take = async (id: string, hasBilling: boolean) =>
		(await receiveMail(pool, { eventId: id, mail, hasLimits: hasBilling }))[0]!
	t.deepEqual(await take('one', true), { isNew: true, received: 1 })
	t.deepEqual(await take('two', true), { isNew: true, received: 0 })
	t.deepEqual(await take('three', false), { isNew: true, received: 1 })
	t.is((await execute(`select from emails where source_type = 'INBOUND'`)).length, 2)
})

test('a campaign that a limit has paused is not resumed before there is room', async (t) => {
	const { limit, use, judge, campaign, app, withSecretKey, execute } = await setupLimits(t)
	await limit({ campaigns: 10 })
	await use('campaigns', 10)
	const state = await campaign()
	await judge()
	t.deepEqual(await state(), { reason: 'BILLING_LIMIT', paused: true })
	const [{ id }] = (await execute<{ id: string }>('select id from campaigns')) as [{ id: string }]
	const resume = () =>
		app.inject({ method: 'POST', url: `/campaigns/${id}/resume`, headers: withSecretKey })
	const refused = await resume()
	t.is(refused.statusCode, 429)
	t.like(refused.json().error, {
		code: 'BILLING_LIMIT_EXCEEDED',
		details: { category: 'campaigns', limit: 10, usage: 10 },
	})
	t.deepEqual(await state(), { reason: 'BILLING_LIMIT', paused: true })
	await limit({ campaigns: 11 })
	t.is((await resume()).statusCode, 200)
	t.deepEqual(await state(), { reason: null, paused: false })
})
