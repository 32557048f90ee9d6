import test from 'ava'
import { createTurns } from '../api/billing/turns.ts'
import { until } from '../bench/load.ts'
import { platformProjectId } from '../db/emails/platform-mail.ts'
import { liftSuspension } from '../db/reputation/suspending.ts'
import { setupBilling } from './helpers/billing.ts'
import { lockWaits } from './helpers/locks.ts'
import { invoiceFor, stripeEvent, subscription } from './helpers/stripe-fake.ts'

const openInvoice = {
	status: 'open',
	amount_remaining: 900,
	attempted: true,
	next_payment_attempt: null as number | null,
}
const paidInvoice = { ...openInvoice, status: 'paid', amount_remaining: 0 }
const draft = { ...openInvoice, status: 'draft', attempted: false }
const retried = { ...openInvoice, next_payment_attempt: 1_900_000_000 }

test('only events with a recent signature of Stripe are accepted', async (t) => {
	const { app, customer, subscriptions, execute } = await setupBilling(t)
	const id = await customer()
	subscriptions.set(id, [subscription('active')])
	const type = 'customer.subscription.created'
	const good = stripeEvent(type, id)
	const [time, v1] = good.headers['stripe-signature'].split(',') as [string, string]
	const now = Math.floor(Date.now() / 1000)
	const bad: object[] = [
		stripeEvent(type, id, { secret: 'whsec_another' }),
		stripeEvent(type, id, { at: Date.now() - 301_000 }),
		stripeEvent(type, id, { at: Date.now() + 330_000 }),
		{ ...good, payload: good.payload.replace(id, 'cus_other') },
		{ ...good, headers: { 'content-type': 'application/json' } },
		...[
			'',
			'v1',
			time,
			v1,
			`${time},v1=`,
			`${time},v0=${v1.slice(3)}`,
			`t=${now + 1},${v1}`,
			`t=x,${v1}`,
		].map((header) => ({ ...good, headers: { ...good.headers, 'stripe-signature': header } })),
		// The signed time differs from the checked time.
		{ ...good, headers: { ...good.headers, 'stripe-signature': `t=${now},${time},${v1}` } },
	]
	for (const [index, request] of bad.entries()) {
		const answer = await app.inject(request as never)
		t.is(answer.statusCode, 401, String(index))
	}
	t.deepEqual(await execute(`select from provider_events`), [])
	const rolled = `${time},v1=${'0'.repeat(64)},${v1}`
	const answer = await app.inject({
		...good,
		headers: { ...good.headers, 'stripe-signature': rolled },
	})
	t.is(answer.statusCode, 200)
	t.is((await execute('select from billing_accounts where subscribed')).length, 1)
})

test('a signed body that is no event is refused', async (t) => {
	const { app } = await setupBilling(t)
	const { headers } = stripeEvent('', null)
	const refused = await app.inject({
		method: 'POST',
		url: '/webhooks/incoming/stripe',
		headers,
		payload: '{',
	})
	t.is(refused.statusCode, 401)
	for (const customer of [1, { id: 'cus_1' }] as never[])
		t.is((await app.inject(stripeEvent('invoice.paid', customer))).statusCode, 400)
})

test('a repeated event takes effect once, even at the same moment; unknown customers are ignored', async (t) => {
	const { tell, customer, subscriptions, calls } = await setupBilling(t)
	const id = await customer()
	subscriptions.set(id, [subscription('active')])
	const answers = await Promise.all(
		[1, 2, 3].map(() => tell('invoice.paid', id, { id: 'evt_same' })),
	)
	t.deepEqual(
		answers.map(({ status }) => status),
		[200, 200, 200],
	)
	t.is(answers.filter(({ duplicate }) => !duplicate).length, 1)
	t.is(calls.filter(({ path }) => path === '/v1/subscriptions').length, 1)
	t.like(await tell('invoice.paid', 'cus_of_somebody_else'), { status: 200, duplicate: false })
	t.like(await tell('charge.succeeded', id), { status: 200, duplicate: false })
	t.is(calls.filter(({ path }) => path === '/v1/subscriptions').length, 1)
})

test('events in any order end in the state that Stripe has', async (t) => {
	const { tell, customer, subscriptions, execute } = await setupBilling(t)
	const id = await customer()
	const subscribed = async () =>
		(await execute<{ is: boolean }>('select subscribed as is from billing_accounts'))[0]!.is
	subscriptions.set(id, [subscription('canceled')])
	await tell('customer.subscription.deleted', id)
	await tell('customer.subscription.updated', id)
	await tell('customer.subscription.created', id)
	t.false(await subscribed())
	subscriptions.set(id, [
		subscription('incomplete', { id: 'sub_3' }),
		subscription('active', { id: 'sub_2' }),
		subscription('canceled'),
	])
	await tell('customer.subscription.deleted', id)
	t.true(await subscribed())
})

test('a subscription that Stripe pauses ends here, and begins again when it is resumed', async (t) => {
	const { tell, customer, subscriptions, execute } = await setupBilling(t)
	const id = await customer()
	const subscribed = async () =>
		(await execute<{ is: boolean }>('select subscribed as is from billing_accounts'))[0]!.is
	subscriptions.set(id, [subscription('trialing')])
	await tell('customer.subscription.created', id)
	t.true(await subscribed())
	subscriptions.set(id, [subscription('paused')])
	await tell('customer.subscription.paused', id)
	t.false(await subscribed(), 'Stripe makes no invoices for it')
	subscriptions.set(id, [subscription('active')])
	await tell('customer.subscription.resumed', id)
	t.true(await subscribed())
})

test('an event is refused while Stripe is unavailable, and takes effect when it is repeated', async (t) => {
	const { tell, customer, subscriptions, faults } = await setupBilling(t)
	const id = await customer()
	subscriptions.set(id, [subscription('active')])
	faults.push({ path: '/v1/subscriptions', cut: 'before' })
	t.is((await tell('invoice.paid', id, { id: 'evt_1' })).status, 503)
	t.like(await tell('invoice.paid', id, { id: 'evt_1' }), { status: 200, duplicate: false })
})

test('however many events come while Stripe is slow, the database is there for others', async (t) => {
	const { tell, customer, subscriptions, holds, pool, route } = await setupBilling(t)
	const id = await customer()
	subscriptions.set(id, [subscription('active')])
	const { promise, resolve } = Promise.withResolvers<void>()
	holds.set('GET /v1/subscriptions', { before: promise })
	let answered = 0
	async function tellOf(n: number) {
		const answer = await tell('invoice.paid', id, { id: `evt_${n}` })
		answered++
		return answer
	}
	const telling = Promise.all(Array.from({ length: 60 }, (_, n) => tellOf(n)))
	t.true(await until(async () => answered >= 7, 20_000), 'more than can wait are not let in')
	t.is((await route('GET', 'billing-limits')).statusCode, 200)
	// An answered request and the process itself may hold one for a moment; a request that waits for Stripe
	// keeps its connection.
	const held = () => pool.totalCount - pool.idleCount
	t.true(await until(async () => held() <= 3, 5000), `${held()}`)
	resolve()
	const statuses = (await telling).map(({ status }) => status)
	const refused = statuses.flatMap((status, n) => (status === 200 ? [] : [{ status, n }]))
	t.true(refused.length < 60)
	for (const { status, n } of refused) {
		t.is(status, 503)
		t.like(await tellOf(n), { status: 200, duplicate: false })
	}
})

test('work that waits too long is refused, and failed work frees its place', async (t) => {
	const inTurn = createTurns({ atOnce: 1, waiting: 1, patienceMs: 50 })
	const { promise, reject } = Promise.withResolvers<void>()
	const first = inTurn(() => promise)
	const impatient = inTurn(async () => t.fail('it was not its turn'))
	await t.throwsAsync(
		inTurn(async () => {}),
		{ message: /are waiting for the payment provider/ },
		'the queue is full',
	)
	await t.throwsAsync(impatient, { message: /are waiting for the payment provider/ })
	const next = inTurn(async () => 'next')
	reject(new Error('failed'))
	await t.throwsAsync(first, { message: 'failed' })
	t.is(await next, 'next')
	t.is(await inTurn(async () => 'last'), 'last')
})

test('a payment that failed for good disables the project, notifies its members once, and paying enables it', async (t) => {
	const { tell, customer, subscriptions, disabled, route, send, execute } = await setupBilling(t)
	const id = await customer()
	subscriptions.set(id, [subscription('past_due', { latest_invoice: retried })])
	await tell('invoice.payment_failed', id)
	t.is(await disabled(), null, 'Stripe will try again')
	subscriptions.set(id, [subscription('past_due', { latest_invoice: openInvoice })])
	await tell('invoice.payment_failed', id)
	await tell('customer.subscription.updated', id)
	t.is(await disabled(), 'PAYMENT_FAILED')
	const mails = await execute<{ to: string; subject: string }>(
		'select "to", subject from emails where project_id = $1 order by "to"',
		[platformProjectId],
	)
	t.deepEqual(
		mails.map(({ to }) => to),
		['admin@example.org', 'member@example.org'],
	)
	t.regex(mails[0]!.subject, /payment failed/)
	t.is((await execute(`select from outbox where workflow_type = 'suspendProject'`)).length, 1)
	t.is((await send()).json().error.code, 'PROJECT_DISABLED')
	t.is((await route('POST', 'billing-portal')).statusCode, 200)
	t.is((await route('PUT', 'billing-limits', { workflows: 3 })).statusCode, 200)

	subscriptions.set(id, [subscription('active', { latest_invoice: paidInvoice })])
	await tell('invoice.paid', id)
	t.is(await disabled(), null)
	t.is((await execute('select from suspensions where lifted_at is null')).length, 0)
	t.is((await send()).statusCode, 200)
})

for (const [name, ended] of [
	['unpaid', subscription('unpaid', { latest_invoice: openInvoice })],
	[
		'cancelled for it',
		subscription('canceled', {
			latest_invoice: openInvoice,
			cancellation_details: { reason: 'payment_failed' },
		}),
	],
] as const)
	test(`a subscription that ends ${name} disables the project, too`, async (t) => {
		const { tell, customer, subscriptions, disabled } = await setupBilling(t)
		const id = await customer()
		subscriptions.set(id, [ended])
		await tell('customer.subscription.updated', id)
		t.is(await disabled(), 'PAYMENT_FAILED')
		subscriptions.set(id, [subscription('active', { id: 'sub_2' }), ended])
		await tell('customer.subscription.created', id)
		// An unpaid subscription still counts as one.
		t.is(await disabled(), ended.status === 'unpaid' ? 'PAYMENT_FAILED' : null)
	})

for (const [name, later] of [
	['the next invoice is being drafted', subscription('past_due', { latest_invoice: draft })],
	[
		'the customer cancels the subscription',
		subscription('canceled', {
			latest_invoice: draft,
			cancellation_details: { reason: 'cancellation_requested' },
		}),
	],
] as const)
	test(`a project stays disabled until the failed invoice is paid, also when ${name}`, async (t) => {
		const { tell, customer, subscriptions, invoices, disabled } = await setupBilling(t)
		const id = await customer()
		subscriptions.set(id, [subscription('past_due', { latest_invoice: openInvoice })])
		await tell('invoice.payment_failed', id)
		subscriptions.set(id, [later])
		invoices.set(id, [{ ...openInvoice, ...invoiceFor('sub_1') }])
		await tell('customer.subscription.updated', id)
		t.is(await disabled(), 'PAYMENT_FAILED')
		subscriptions.set(id, [subscription('active', { id: 'sub_2' }), later])
		await tell('customer.subscription.created', id)
		t.is(await disabled(), 'PAYMENT_FAILED', 'another subscription pays nothing')
		invoices.set(id, [{ ...paidInvoice, ...invoiceFor('sub_1') }])
		await tell('invoice.paid', id)
		t.is(await disabled(), null)
	})

test('an invoice that is voided after its subscription was cancelled for it enables the project', async (t) => {
	const { tell, customer, subscriptions, invoices, disabled } = await setupBilling(t)
	const id = await customer()
	const end = { cancellation_details: { reason: 'payment_failed' } }
	subscriptions.set(id, [subscription('canceled', { ...end, latest_invoice: openInvoice })])
	invoices.set(id, [{ ...openInvoice, ...invoiceFor('sub_1') }])
	await tell('customer.subscription.deleted', id)
	t.is(await disabled(), 'PAYMENT_FAILED')
	const voided = { ...openInvoice, status: 'void' }
	subscriptions.set(id, [subscription('canceled', { ...end, latest_invoice: voided })])
	invoices.set(id, [{ ...voided, ...invoiceFor('sub_1') }])
	await tell('invoice.voided', id)
	t.is(await disabled(), null)
})

test('an invoice that is given up as uncollectible disables the project, as after the last attempt', async (t) => {
	const { tell, customer, subscriptions, invoices, disabled } = await setupBilling(t)
	const id = await customer()
	subscriptions.set(id, [subscription('past_due', { latest_invoice: retried })])
	await tell('invoice.payment_failed', id)
	t.is(await disabled(), null)
	const uncollectible = { ...openInvoice, status: 'uncollectible' }
	// Stripe counts it as settled.
	subscriptions.set(id, [subscription('active', { latest_invoice: uncollectible })])
	await tell('invoice.marked_uncollectible', id)
	t.is(await disabled(), 'PAYMENT_FAILED')
	subscriptions.set(id, [subscription('active', { latest_invoice: draft })])
	invoices.set(id, [{ ...uncollectible, attempted: false, ...invoiceFor('sub_1') }])
	await tell('invoice.created', id)
	t.is(await disabled(), 'PAYMENT_FAILED', 'until it is paid or void')
	invoices.set(id, [{ ...paidInvoice, ...invoiceFor('sub_1') }])
	await tell('invoice.paid', id)
	t.is(await disabled(), null)
})

test('an invoice whose last attempt fails when a later one is due already disables the project', async (t) => {
	const { tell, customer, subscriptions, invoices, disabled } = await setupBilling(t)
	const id = await customer()
	subscriptions.set(id, [subscription('past_due', { latest_invoice: retried })])
	invoices.set(id, [{ ...retried, ...invoiceFor('sub_1') }])
	await tell('invoice.payment_failed', id)
	t.is(await disabled(), null)
	invoices.set(id, [
		{ ...retried, ...invoiceFor('sub_1') },
		{ ...openInvoice, ...invoiceFor('sub_1') },
	])
	await tell('invoice.payment_failed', id)
	t.is(await disabled(), 'PAYMENT_FAILED')
})

test('a payment lifts nothing but the suspension for want of it', async (t) => {
	const { tell, customer, subscriptions, disabled, execute } = await setupBilling(t)
	const id = await customer()
	await execute(`update projects set disabled_reason = 'EMAIL_REPUTATION'`)
	subscriptions.set(id, [subscription('active')])
	await tell('invoice.paid', id)
	t.is(await disabled(), 'EMAIL_REPUTATION')
})

test('a payment that fails while the project is disabled for another reason disables it once that reason is gone', async (t) => {
	const { tell, customer, subscriptions, disabled, execute, pool, project } = await setupBilling(t)
	const id = await customer()
	await execute(`select suspend_project($1, 'EMAIL_REPUTATION', 'bounces')`, [project.id])
	subscriptions.set(id, [subscription('past_due', { latest_invoice: openInvoice })])
	await tell('invoice.payment_failed', id)
	await tell('customer.subscription.updated', id)
	t.is(await disabled(), 'EMAIL_REPUTATION')
	const mails = () =>
		execute(`select from emails where project_id = $1 and subject like 'A payment failed%'`, [
			platformProjectId,
		])
	t.is((await mails()).length, 2, 'its members know of the payment')
	const enable = () => liftSuspension(pool, { publicId: project.id })
	t.like(await enable(), { isLifted: true, isUnpaid: true })
	t.is(await disabled(), 'PAYMENT_FAILED')
	t.like(await enable(), { isLifted: false, isUnpaid: true })
	t.deepEqual(
		await execute('select reason, lifted_at is null as "isOpen" from suspensions order by reason'),
		[
			{ reason: 'EMAIL_REPUTATION', isOpen: false },
			{ reason: 'PAYMENT_FAILED', isOpen: true },
		],
	)
	await tell('customer.subscription.updated', id)
	t.is((await mails()).length, 2, 'and are told once')
	subscriptions.set(id, [subscription('active', { latest_invoice: paidInvoice })])
	await tell('invoice.paid', id)
	t.is(await disabled(), null)
})

test('a payment that fails while the project is being enabled disables it', async (t) => {
	const { tell, customer, subscriptions, disabled, execute, pool, project } = await setupBilling(t)
	const id = await customer()
	await execute(`update projects set disabled_reason = 'MANUAL' where id = $1`, [project.id])
	subscriptions.set(id, [subscription('past_due', { latest_invoice: openInvoice })])
	const db = await pool.connect()
	try {
		await db.query('begin')
		await db.query('select from projects where id = $1 for update', [project.id])
		const told = tell('invoice.payment_failed', id)
		await lockWaits(t, pool, 1)
		await db.query('update projects set disabled_reason = null where id = $1', [project.id])
		await db.query('commit')
		t.is((await told).status, 200)
	} finally {
		db.release()
	}
	t.is(await disabled(), 'PAYMENT_FAILED')
})
