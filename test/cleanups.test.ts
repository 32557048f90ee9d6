import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import type { Pool } from 'pg'
import { billingActivities } from '../activities/billing/billing.ts'
import { createDns } from '../outside/domains/dns.ts'
import { resendDomains } from '../outside/domains/resend.ts'
import { housekeepingActivities } from '../activities/housekeeping.ts'
import { projectActivities, type RemovedRows } from '../activities/projects.ts'
import { createStripe } from '../outside/stripe/client.ts'
import { endCleanup, restartCleanups, unfinishedCleanups } from '../db/outbox/cleanups.ts'
import { setupBilling } from './helpers/billing.ts'
import { dnsServer } from './helpers/dns-server.ts'
import { logger, setupDomains } from './helpers/domains.ts'
import { lookForLost } from './helpers/forgetful.ts'
import { resendDomainsFake } from './helpers/resend-domains-fake.ts'
import { subscription } from './helpers/stripe-fake.ts'

/** Runs an activity within the run of this id. */
const inRun = (workflowId: string) =>
	new MockActivityEnvironment({ workflowExecution: { workflowId, runId: workflowId } }, { logger })

/** Marks the whole outbox as sent to Temporal, this long ago. */
const told = (pool: Pool, ago: string) =>
	pool.query('update outbox set done_at = now() - $1::interval where done_at is null', [ago])

async function waiting(pool: Pool) {
	const sql = 'select workflow_id as id from outbox where done_at is null order by id'
	return (await pool.query<{ id: string }>(sql)).rows.map(({ id }) => id)
}

const keepHouse = (pool: Pool) =>
	inRun('housekeeping').run(
		housekeepingActivities({
			pool,
			settings: { bodyRetentionDays: 90 },
			stopping: new AbortController().signal,
		}).keepHouse,
	) as Promise<string>

async function remove(pool: Pool, projectId: string) {
	const { signal: stopping } = new AbortController()
	const { removeProjectRows } = projectActivities({ pool, relay: { wake() {} }, stopping })
	for (;;) {
		const page: RemovedRows = await inRun(`delete/${projectId}`).run(removeProjectRows, projectId)
		if (page.isLast || page.waitMs) return page
	}
}

test('the subscription of a deleted project ends even if Temporal loses the run that ends it', async (t) => {
	const { app, project, person, pool, stripe, customer, subscriptions, tell, faults, execute } =
		await setupBilling(t)
	const id = await customer()
	subscriptions.set(id, [subscription('active')])
	t.is((await tell('customer.subscription.updated', id)).status, 200)
	await execute(
		`insert into contacts (project_id, email, subscribed) values ($1, 'a@example.org', true)`,
		[project.id],
	)
	const { headers } = await person('owner@example.org', 'OWNER')
	const url = `/users/@me/projects/${project.id}`
	t.is((await app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
	const run = `end-subscription/${id}`
	const [row] = await execute<{ payload: object }>(
		'select payload from outbox where workflow_id = $1',
		[run],
	)
	const { endSubscription } = billingActivities({ pool, stripe: await createStripe(stripe) })
	const end = () => inRun(run).run(endSubscription, row!.payload as never)
	const graves = () => execute('select id from projects where deleted_at is not null')

	// Stripe is unavailable; the project's rows are deleted, and time passes.
	await told(pool, '2 hours')
	faults.push({ path: '/v1/subscriptions/sub_1', cut: 'before' })
	await t.throwsAsync(end())
	t.like(await remove(pool, project.id), { isLast: false, waitMs: 600_000 })
	t.deepEqual(await execute('select from contacts'), [])
	t.is((await graves()).length, 1)
	await keepHouse(pool)
	// First the run is known, then it is lost.
	t.is(await lookForLost(pool, run), 0)
	t.is(await lookForLost(pool), 1)
	t.deepEqual(await waiting(pool), [run])
	t.is(await lookForLost(pool), 0)
	await told(pool, '6 minutes')

	await end()
	t.like(subscriptions.get(id)![0], { status: 'canceled' })
	t.is(await lookForLost(pool), 0)
	t.like(await remove(pool, project.id), { isLast: true })
	t.deepEqual(await graves(), [])
})

test('a removed domain is removed at Resend even if Temporal lost its run', async (t) => {
	const resend = await resendDomainsFake(t)
	const { address } = await dnsServer(t)
	const env = { EMAIL_PROVIDER: 'resend', RESEND_API_KEY: 're_test', RESEND_BASE_URL: resend.url }
	const { add, call, pool, activities } = await setupDomains(t, env, [address], (pool) =>
		resendDomains({ pool, apiKey: 're_test', baseUrl: resend.url, dns: createDns([address]) }),
	)
	const { id } = await add('example.org')
	t.is((await call('DELETE', `/domains/${id}`)).statusCode, 204)
	const run = `remove-domain/${id}`
	await told(pool, '2 hours')
	await keepHouse(pool)
	t.is(await lookForLost(pool), 1)
	t.deepEqual(await waiting(pool), [run])
	await told(pool, '1 second')
	t.is(await lookForLost(pool), 0)
	await inRun(run).run(activities.removeProviderDomain, resend.find('example.org')!.id)
	t.is(resend.domains.size, 0)
	t.is((await pool.query('select from outbox where workflow_id = $1', [run])).rowCount, 0)
})

test('a cleanup that ends while Temporal is asked about it is not run again', async (t) => {
	const { pool, project } = await setupDomains(t)
	await pool.query(
		`insert into outbox (project_id, kind, workflow_type, workflow_id, done_at)
		values ($1, 'start', 'removeDomain', 'remove-domain/1', now() - interval '1 hour')`,
		[project.id],
	)
	const found = await unfinishedCleanups(pool, { limit: 10 })
	t.is(found.length, 1)
	await endCleanup(pool, { workflowId: 'remove-domain/1' })
	await restartCleanups(pool, { runs: found })
	t.deepEqual(await waiting(pool), [])
})
