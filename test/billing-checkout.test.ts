import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import test, { type ExecutionContext } from 'ava'
import { billingActivities } from '../activities/billing/billing.ts'
import { createStripe } from '../outside/stripe/client.ts'
import { until } from '../bench/load.ts'
import { setupBilling } from './helpers/billing.ts'
import { lockWaits } from './helpers/locks.ts'
import { subscription } from './helpers/stripe-fake.ts'

const logger = new DefaultLogger('ERROR', () => {})

/** Payment pages and their states. */
async function setupCheckout(t: ExecutionContext) {
	const all = await setupBilling(t)
	const { app, pool, project, person, stripe, route, sessions, subscriptions, calls, execute } = all
	const owner = await person('owner@example.org', 'OWNER')
	const { endSubscription } = billingActivities({ pool, stripe: await createStripe(stripe) })
	const url = `/users/@me/projects/${project.id}`
	let started: { workflow_id: string; payload: never } | undefined
	return {
		...all,
		open: (currency: string) => route('POST', `checkout?currency=${currency}`),
		statuses: () => sessions.map(({ status }) => status),
		/** Pays as at Stripe, before its event reaches us. */
		pay: (at: number, id = 'sub_1') => {
			const session = sessions[at]!
			session.status = 'complete'
			const before = subscriptions.get(session.customer) ?? []
			subscriptions.set(session.customer, [subscription('active', { id }), ...before])
			return session.customer
		},
		called: (method: string, path: string) =>
			until(async () => calls.some((call) => call.method === method && call.path === path), 20_000),
		deleteProject: async () =>
			t.is((await app.inject({ method: 'DELETE', url, headers: owner.headers })).statusCode, 204),
		/** Does the work of the run that a deletion starts, also repeatedly. */
		end: async () => {
			const [row] = await execute<{ workflow_id: string; payload: never }>(
				`select workflow_id, payload from outbox where workflow_type = 'endSubscription'`,
			)
			started ??= row!
			const workflowExecution = { workflowId: started.workflow_id, runId: 'run' }
			await new MockActivityEnvironment({ workflowExecution }, { logger }).run(
				endSubscription,
				started.payload,
			)
		},
	}
}

const checkouts = '/v1/checkout/sessions'

test('subscribing on one payment page closes the other open ones', async (t) => {
	const { open, pay, tell, statuses, faults } = await setupCheckout(t)
	for (const currency of ['usd', 'eur', 'gbp']) t.is((await open(currency)).statusCode, 200)
	const id = pay(1)
	faults.push({ path: checkouts, cut: 'before' })
	const told = () => tell('checkout.session.completed', id, { id: 'evt_1' })
	t.is((await told()).status, 503, 'Stripe will tell it again')
	t.deepEqual(statuses(), ['open', 'complete', 'open'])
	t.like(await told(), { status: 200, duplicate: false })
	t.deepEqual(statuses(), ['expired', 'complete', 'expired'])
})

test('a payment page that is made while another is paid is closed again', async (t) => {
	const { open, pay, tell, statuses, holds, called, pool } = await setupCheckout(t)
	t.is((await open('usd')).statusCode, 200)
	const id = pay(0)
	const { promise: looked, resolve: answer } = Promise.withResolvers<void>()
	holds.set(`GET ${checkouts}`, { after: looked })
	const telling = tell('checkout.session.completed', id)
	t.true(await called('GET', checkouts))
	// The list of pages was read before this page existed.
	const opening = open('eur')
	await lockWaits(t, pool, 1)
	t.deepEqual(statuses(), ['complete', 'open'])
	answer()
	t.is((await telling).status, 200)
	const { statusCode, body } = await opening
	t.is(statusCode, 400, body)
	t.deepEqual(statuses(), ['complete', 'expired'])
})

test('after a project is deleted, its open payment pages are closed', async (t) => {
	const { open, statuses, deleteProject, end } = await setupCheckout(t)
	t.is((await open('usd')).statusCode, 200)
	await deleteProject()
	await end()
	t.deepEqual(statuses(), ['expired'])
	await end()
})

test('every subscription of a deleted project ends, even one that was never reported', async (t) => {
	const { open, pay, deleteProject, end, subscriptions, tell } = await setupCheckout(t)
	for (const currency of ['usd', 'eur']) t.is((await open(currency)).statusCode, 200)
	const id = pay(0)
	pay(1, 'sub_2')
	await deleteProject()
	t.like(await tell('checkout.session.completed', id), { status: 200 })
	await end()
	const statuses = () => subscriptions.get(id)!.map((one) => (one as { status: string }).status)
	t.deepEqual(statuses(), ['canceled', 'canceled'])
	subscriptions.get(id)!.push(subscription('incomplete_expired'))
	await end()
	t.deepEqual(statuses(), ['canceled', 'canceled', 'incomplete_expired'])
})

test('a payment page that is being paid at this moment is not overlooked', async (t) => {
	const { open, pay, deleteProject, end, subscriptions, sessions, holds, called } =
		await setupCheckout(t)
	t.is((await open('usd')).statusCode, 200)
	await deleteProject()
	const path = `${checkouts}/${sessions[0]!.id}/expire`
	const { promise: paid, resolve } = Promise.withResolvers<void>()
	holds.set(`POST ${path}`, { before: paid })
	const ending = end()
	t.true(await called('POST', path))
	const id = pay(0)
	resolve()
	await t.throwsAsync(ending, { message: /can be expired/ })
	t.like(subscriptions.get(id)![0], { status: 'active' })
	await end()
	t.like(subscriptions.get(id)![0], { status: 'canceled' })
})

test('a payment page that is made while its project is deleted is closed again', async (t) => {
	const { open, deleteProject, statuses, holds, called } = await setupCheckout(t)
	const { promise: deleted, resolve } = Promise.withResolvers<void>()
	holds.set(`POST ${checkouts}`, { before: deleted })
	const opening = open('usd')
	t.true(await called('POST', checkouts))
	await deleteProject()
	resolve()
	t.is((await opening).statusCode, 404)
	t.deepEqual(statuses(), ['expired'])
})

test('a customer that Stripe does not know with this key keeps no run going', async (t) => {
	const { open, deleteProject, end, faults } = await setupCheckout(t)
	t.is((await open('usd')).statusCode, 200)
	await deleteProject()
	faults.push({ path: checkouts, status: 400, code: 'resource_missing' })
	await t.notThrowsAsync(end())
	faults.push({ path: checkouts, status: 400 })
	await t.throwsAsync(end())
})

test('a project whose customer no longer exists at Stripe subscribes as a new one', async (t) => {
	const { open, pay, tell, customer, lostCustomers, sessions, calls, execute } =
		await setupCheckout(t)
	const lost = await customer()
	lostCustomers.add(lost)
	const answers = await Promise.all([open('eur'), open('eur')])
	for (const { statusCode, body } of answers) t.is(statusCode, 200, body)
	t.is(sessions.length, 2, 'one page of each customer')
	const id = pay(1)
	t.not(id, lost)
	await tell('checkout.session.completed', id)
	const accounts = await execute('select customer_id, subscribed from billing_accounts')
	t.deepEqual(accounts, [{ customer_id: id, subscribed: true }])
	t.is(calls.findLast(({ path }) => path === checkouts)!.form['customer'], id)
})

test('a price that Stripe does not know leaves a project its customer', async (t) => {
	const { open, customer, faults, execute } = await setupCheckout(t)
	const id = await customer()
	faults.push({ path: checkouts, status: 400, code: 'resource_missing' })
	t.is((await open('eur')).statusCode, 503)
	t.deepEqual(await execute('select customer_id from billing_accounts'), [{ customer_id: id }])
})
