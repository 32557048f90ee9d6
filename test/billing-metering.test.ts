import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import test, { type ExecutionContext } from 'ava'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { billingActivities } from '../activities/billing/billing.ts'
import { createStripe } from '../outside/stripe/client.ts'
import { until } from '../bench/load.ts'
import config from '../db/config.ts'
import { setupBilling } from './helpers/billing.ts'
import { subscription } from './helpers/stripe-fake.ts'

const logger = new DefaultLogger('ERROR', () => {})

/** A customer that pays by use; the hourly report is called by hand. */
async function setupMetering(t: ExecutionContext) {
	const all = await setupBilling(t)
	const { app, project, person, execute, pool, stripe, customer, subscriptions, tell, metered } =
		all
	const id = await customer()
	const activities = billingActivities({ pool, stripe: await createStripe(stripe) })
	const workflowExecution = { workflowId: `end-subscription/${id}`, runId: 'run' }
	const run = <T>(work: (...given: never[]) => Promise<T>, ...given: unknown[]) =>
		new MockActivityEnvironment({ workflowExecution }, { logger }).run(
			work as never,
			...given,
		) as Promise<T>
	return {
		...all,
		id,
		subscribe: async (status = 'active') => {
			subscriptions.set(id, [subscription(status)])
			t.is((await tell('customer.subscription.updated', id)).status, 200)
		},
		report: () => run(activities.reportUsage),
		end: (ended: object) => run(activities.endSubscription, ended),
		/** Deletes the project, and returns the argument of the run that ends its subscription. */
		remove: async () => {
			const { headers } = await person('owner@example.org', 'OWNER')
			const url = `/users/@me/projects/${project.id}`
			t.is((await app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
			const [row] = await execute<{ workflow_id: string; payload: object }>(
				`select workflow_id, payload from outbox where workflow_type = 'endSubscription'`,
			)
			t.is(row!.workflow_id, `end-subscription/${id}`)
			return row!.payload
		},
		total: () => metered(id),
	}
}

test('sent mail is reported once, however many reporters run', async (t) => {
	const { subscribe, use, report, total, metering } = await setupMetering(t)
	await subscribe()
	await use('transactional', 7)
	await use('campaigns', 5)
	t.is(await report(), '1 reported, 0 left, 0 of them in doubt')
	t.is(total(), 12)
	t.is(await report(), '0 reported, 0 left, 0 of them in doubt')
	await use('inbound', 1)
	await Promise.all([report(), report(), report()])
	t.is(total(), 13)
	const [event] = [...metering.values()]
	t.is(event!['event_name'], 'mails')
	t.true(Math.abs(Number(event!['timestamp']) - Date.now() / 1000) < 60)
})

test('a report with a lost answer is repeated and counts once', async (t) => {
	const { subscribe, use, report, total, faults, answered, calls } = await setupMetering(t)
	await subscribe()
	await use('transactional', 7)
	const path = '/v1/billing/meter_events'
	faults.push({ path, cut: 'after' })
	await t.throwsAsync(report())
	t.is(total(), 7)
	t.is(await report(), '1 reported, 0 left, 0 of them in doubt')
	t.is(total(), 7)

	await use('transactional', 1)
	faults.push({ path, cut: 'after' })
	await t.throwsAsync(report())
	// Stripe may forget keys sooner than identifiers.
	answered.clear()
	t.is(await report(), '1 reported, 0 left, 0 of them in doubt')
	t.is(total(), 8)
	const told = calls.filter((call) => call.path === path)
	t.is(told.length, 4)
	t.is(new Set(told.map(({ form }) => form['identifier'])).size, 2)
})

test('a worker killed while it reports loses nothing and counts nothing twice', async (t) => {
	const { subscribe, use, report, total, stripe, orm, calls, execute } = await setupMetering(t)
	await subscribe()
	const clientUrl = Object.assign(new URL(String(config.clientUrl)), {
		pathname: `/${orm.config.get('dbName')}`,
	}).href
	const env = {
		...process.env,
		DATABASE_URL: clientUrl,
		STRIPE_API_BASE: stripe.base,
		STRIPE_SECRET_KEY: stripe.secretKey,
	}
	const script = fileURLToPath(new URL('helpers/report-usage.ts', import.meta.url))
	const path = '/v1/billing/meter_events'
	const told = () => calls.filter((call) => call.path === path).length
	for (let sent = 1; sent <= 3; sent++) {
		await use('transactional', sent)
		const before = told()
		const child = spawn(process.execPath, ['--import=tsx', script], { env, stdio: 'ignore' })
		const gone = once(child, 'exit')
		t.true(await until(async () => told() > before || child.exitCode !== null, 60_000))
		child.kill('SIGKILL')
		await gone
	}
	await report()
	t.is(total(), 6)
	const [sum] = await execute<{ value: number }>(
		'select sum(value)::int as value from usage_reports where reported_at is not null',
	)
	t.is(sum!.value, 6)
})

test('mail sent without a subscription is free, and mail sent with one is paid', async (t) => {
	const { subscribe, use, report, total } = await setupMetering(t)
	await use('transactional', 900)
	await report()
	await subscribe()
	await use('transactional', 10)
	await subscribe('canceled')
	await use('transactional', 50)
	await report()
	t.is(total(), 10)
	await subscribe()
	await use('transactional', 3)
	await report()
	t.is(total(), 13)
})

test('a reported mail that fails later reduces the next report', async (t) => {
	const { subscribe, use, report, total } = await setupMetering(t)
	await subscribe()
	await use('transactional', 10)
	await report()
	await use('transactional', -4)
	await report()
	await use('transactional', 5)
	await report()
	t.is(total(), 11)
})

test('last month’s mail is on last month’s invoice while that is a draft, and on the next one later', async (t) => {
	const { subscribe, report, execute, project, metering } = await setupMetering(t)
	await subscribe()
	await execute(
		`insert into usage_tallies (project_id, month, category, used, sent)
		values ($1, '2020-02-01', 'campaigns', 4, 4)`,
		[project.id],
	)
	await report()
	const [event] = [...metering.values()]
	t.true(Math.abs(Number(event!['timestamp']) - Date.now() / 1000) < 60)
	const [row] = await execute<{ month: string }>('select month::text from usage_reports')
	t.is(row!.month, '2020-02-01')
})

test('a report that Stripe has not looked at by the end of its month’s invoice is on the next one', async (t) => {
	const { subscribe, use, report, execute, metering, faults } = await setupMetering(t)
	await subscribe()
	const path = '/v1/billing/meter_events'
	const refused = { path, status: 400, isKept: true }
	const doubtful = { path, cut: 'before' as const }
	await use('transactional', 1)
	faults.push(refused)
	await report()
	for (const untried of [2, 4]) {
		await use('transactional', untried)
		faults.push(refused, doubtful)
		await t.throwsAsync(report())
	}
	const [row] = await execute<{ at: number }>(
		`update usage_reports set at = now() - interval '2 months' returning extract(epoch from at)::int as at`,
	)
	await report()
	const at = Object.fromEntries(
		[...metering.values()].map((form) => [form['payload[value]']!, Number(form['timestamp'])]),
	)
	t.is(at['2'], row!.at, 'Stripe may have it')
	for (const value of ['1', '4']) t.true(Math.abs(at[value]! - Date.now() / 1000) < 60, value)
})

test('a refused report waits with its reason; one in doubt for a day is left to a person', async (t) => {
	const { subscribe, use, report, total, faults, execute } = await setupMetering(t)
	await subscribe()
	await use('transactional', 2)
	const path = '/v1/billing/meter_events'
	faults.push({ path, status: 400 })
	t.is(await report(), '0 reported, 1 left, 0 of them in doubt')
	const [row] = await execute<{ error: string }>('select error from usage_reports')
	t.regex(row!.error, /It is not to be/)
	await execute(`update usage_reports set attempted_at = now() - interval '24 hours'`)
	t.is(await report(), '0 reported, 1 left, 1 of them in doubt')
	t.is(total(), 0)
	await execute('update usage_reports set attempted_at = null')
	await report()
	t.is(total(), 2)
})

test('a report counts as tried only if Stripe may have looked at it', async (t) => {
	const { subscribe, use, report, remove, execute, faults } = await setupMetering(t)
	await subscribe()
	const reports = () =>
		execute<{ value: number; tried: boolean }>(
			'select value, attempted_at is not null as tried from usage_reports order by id',
		)
	const path = '/v1/billing/meter_events'
	for (const [status, value] of [
		[403, 1],
		[429, 2],
		[401, 4],
	] as const) {
		await use('transactional', value)
		faults.push({ path, status })
		await t.throwsAsync(report())
	}
	const untried = [1, 2, 4].map((value) => ({ value, tried: false }))
	t.deepEqual(await reports(), untried)
	const tried = untried.with(0, { value: 1, tried: true })
	// The first may have been counted by the 503, whatever the 403 after it says.
	for (const statuses of [[503, 503, 403], [403]]) {
		faults.push(...statuses.map((status) => ({ path, status })))
		await t.throwsAsync(report())
		t.deepEqual(await reports(), tried)
	}
	t.like(await remove(), { unreported: 6 })
})

test('while Stripe is away nothing is lost', async (t) => {
	const { subscribe, use, report, total, faults } = await setupMetering(t)
	await subscribe()
	await use('transactional', 2)
	const path = '/v1/billing/meter_events'
	for (const away of [
		[{ path: '/v1/prices/price_1', status: 503 }],
		[
			{ path, status: 503 },
			{ path, status: 503 },
		],
		[{ path, cut: 'before' as const }],
	]) {
		faults.push(...away)
		await t.throwsAsync(report())
	}
	await use('transactional', 1)
	await report()
	t.is(total(), 3)
})

test('an internal error that Stripe repeats under its key stops no report', async (t) => {
	const { subscribe, use, report, total, faults } = await setupMetering(t)
	await subscribe()
	await use('transactional', 2)
	faults.push({ path: '/v1/billing/meter_events', status: 500, isKept: true })
	t.is(await report(), '1 reported, 0 left, 0 of them in doubt')
	t.is(total(), 2)
})

test('a report that fails at Stripe holds up no other', async (t) => {
	const { subscribe, use, report, total, faults } = await setupMetering(t)
	await subscribe()
	const path = '/v1/billing/meter_events'
	await use('transactional', 1)
	faults.push({ path, cut: 'before' })
	await t.throwsAsync(report())
	await use('transactional', 2)
	faults.push({ path, status: 500 }, { path, status: 500 })
	await t.throwsAsync(report())
	t.is(total(), 2)
	await report()
	t.is(total(), 3)
})

test('a deleted project pays for its sent mail, and its subscription ends', async (t) => {
	const { subscribe, use, report, remove, end, total, subscriptions, id, faults } =
		await setupMetering(t)
	await subscribe()
	await use('transactional', 10)
	await report()
	await use('transactional', 5)
	const ended = await remove()
	t.deepEqual(ended, { subscriptionId: 'sub_1', customerId: id, unreported: 5 })
	faults.push({ path: '/v1/subscriptions/sub_1', cut: 'after' })
	await t.throwsAsync(end(ended))
	await end(ended)
	t.is(total(), 15)
	t.like(subscriptions.get(id)![0], { status: 'canceled' })
})

for (const [what, fault, passes] of [
	['that Stripe took', { path: '/v1/subscriptions/sub_1', status: 403 }, false],
	['in doubt for a day', { path: '/v1/billing/meter_events', cut: 'after' as const }, true],
] as const)
	test(`the last usage of a deleted project, ${what}, is not reported again while its subscription cannot be ended`, async (t) => {
		const metering = await setupMetering(t)
		const { subscribe, use, remove, end, subscriptions, id, faults, calls, execute } = metering
		await subscribe()
		await use('transactional', 5)
		const ended = await remove()
		const reports = () => calls.filter(({ path }) => path === '/v1/billing/meter_events').length
		faults.push(fault)
		await t.throwsAsync(end(ended))
		t.is(reports(), 1)
		if (passes)
			await execute(
				`update outbox set payload = payload || jsonb_build_object('attemptedAt', now() - interval '24 hours')
				where workflow_type = 'endSubscription'`,
			)
		await end(ended)
		t.is(reports(), 1)
		t.like(subscriptions.get(id)![0], { status: 'canceled' })
	})

test('a last report that Stripe turned away is made whenever it can be', async (t) => {
	const { subscribe, use, remove, end, total, faults, execute } = await setupMetering(t)
	await subscribe()
	await use('transactional', 5)
	const ended = await remove()
	faults.push({ path: '/v1/billing/meter_events', status: 403 })
	await t.throwsAsync(end(ended))
	const [row] = await execute<{ payload: object }>(
		`select payload from outbox where workflow_type = 'endSubscription'`,
	)
	t.deepEqual(row!.payload, ended)
	await end(ended)
	t.is(total(), 5)
})

type Metering = Awaited<ReturnType<typeof setupMetering>>
const meterEvents = '/v1/billing/meter_events'
const untold: [what: string, unreported: number, happens: (metering: Metering) => Promise<void>][] =
	[
		[
			'a report that Stripe refused',
			5,
			async ({ report, faults }) => {
				faults.push({ path: meterEvents, status: 400 })
				await report()
			},
		],
		[
			'an unsent report of a subscription that has ended',
			5,
			async ({ subscribe, use }) => {
				await subscribe('canceled')
				await use('transactional', 50)
			},
		],
		[
			'an unsent report beside one of free usage',
			5,
			async ({ subscribe, use }) => {
				await subscribe('canceled')
				await use('transactional', 50)
				await subscribe()
			},
		],
		[
			'a report that Stripe took and nobody heard of',
			0,
			async ({ report, faults }) => {
				faults.push({ path: meterEvents, cut: 'after' })
				await report().catch(() => {})
			},
		],
	]
for (const [what, unreported, happens] of untold)
	test(`usage in ${what} is paid once when its project is deleted`, async (t) => {
		const metering = await setupMetering(t)
		const { subscribe, use, remove, report, end, total } = metering
		await subscribe()
		await use('transactional', 5)
		await happens(metering)
		const ended = await remove()
		t.like(ended, { unreported })
		// The project's rows may stay for a long time.
		await report()
		await end(ended)
		t.is(total(), 5)
	})

test('a reset keeps usage and the paying customer', async (t) => {
	const { subscribe, use, report, total, app, project, admin, route } = await setupMetering(t)
	await subscribe()
	await use('transactional', 10)
	const url = `/users/@me/projects/${project.id}/reset`
	t.is((await app.inject({ method: 'POST', url, headers: admin.headers })).statusCode, 200)
	t.is((await route('GET', 'billing-consumption')).json().usage.total, 10)
	await report()
	t.is(total(), 10)
})
