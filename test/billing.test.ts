import test from 'ava'
import { setupBilling } from './helpers/billing.ts'
import { subscription } from './helpers/stripe-fake.ts'
import { setupTeam } from './helpers/team.ts'

const routes = [
	['POST', 'checkout?currency=none'],
	['POST', 'billing-portal'],
	['GET', 'billing-limits'],
	['PUT', 'billing-limits'],
	['GET', 'billing-consumption'],
	['GET', 'billing-invoices'],
] as const

test('without a key of Stripe there is no billing, and nothing is limited', async (t) => {
	const { app, project, admin, pool } = await setupTeam(t)
	for (const [method, name] of routes) {
		const url = `/users/@me/projects/${project.id}/${name}`
		const payload = method === 'PUT' ? { workflows: -1 } : undefined
		const answer = await app.inject({
			method,
			url,
			headers: admin.headers,
			...(payload && { payload }),
		})
		t.is(answer.statusCode, 404, name)
		t.is(answer.json().error.code, 'RESOURCE_NOT_FOUND')
	}
	await pool.query(
		`insert into usage_counts (project_id, month, category, used, sent)
		values ($1, date_trunc('month', now(), 'UTC')::date, 'transactional', 5000, 0)`,
		[project.id],
	)
	t.false((await app.inject('/config')).json().features.billing.enabled)
})

test('members and strangers have no say in billing, administrators have', async (t) => {
	const { route, person } = await setupBilling(t)
	const member = await person('another@example.org', 'MEMBER')
	const owner = await person('owner@example.org', 'OWNER')
	for (const [method, name] of routes) {
		t.is((await route(method, name, undefined, member.headers)).json().error.code, 'FORBIDDEN')
		t.is((await route(method, name, undefined, {} as never)).json().error.code, 'UNAUTHORIZED')
	}
	t.is((await route('GET', 'billing-limits', undefined, owner.headers)).statusCode, 200)
})

test('a project is subscribed at the payment page, for calendar months and in the wanted currency', async (t) => {
	const { route, project, calls, customer } = await setupBilling(t)
	const id = await customer()
	const answer = await route('POST', 'checkout?currency=gbp')
	t.regex(answer.json().url, /^https:\/\/checkout\.stripe\.test\//)
	t.is(
		calls.filter(({ path }) => path === '/v1/customers').length,
		1,
		'one customer, however often',
	)
	const { form } = calls.findLast(({ path }) => path === '/v1/checkout/sessions')!
	t.like(form, {
		mode: 'subscription',
		customer: id,
		client_reference_id: project.id,
		currency: 'gbp',
		'line_items[0][price]': 'price_1',
		'subscription_data[metadata][projectId]': project.id,
	})
	const anchor = new Date(Number(form['subscription_data[billing_cycle_anchor]']) * 1000)
	t.regex(anchor.toISOString(), /-01T00:00:00\.000Z$/)
	t.is((await route('POST', 'checkout?currency=chf')).statusCode, 400)
	t.is((await route('POST', 'billing-portal')).json().url, `https://portal.stripe.test/${id}`)
})

test('a price without a meter can be bought, too', async (t) => {
	const { route } = await setupBilling(t, { metered: false })
	t.is((await route('POST', 'checkout')).statusCode, 200)
})

test('two browser windows get one page and one customer, until that subscription has ended', async (t) => {
	const { route, calls, customer, subscriptions, tell, faults } = await setupBilling(t)
	const checkout = async () => {
		const answer = await route('POST', 'checkout')
		t.is(answer.statusCode, 200, answer.body)
		return answer.json<{ url: string }>().url
	}
	const [first, second] = await Promise.all([checkout(), checkout()])
	t.is(first, second)
	const keys = calls.filter(({ path }) => path === '/v1/customers').map(({ key }) => key!)
	t.is(new Set(keys).size, 1)
	const id = await customer()
	for (const status of ['active', 'canceled']) {
		subscriptions.set(id, [subscription(status)])
		await tell('customer.subscription.updated', id)
	}
	const third = await checkout()
	t.not(third, first)
	faults.push({ path: '/v1/checkout/sessions', status: 500 })
	t.not(await checkout(), third, 'its breakdown is not what it goes on saying')
})

test('a second subscription is refused, and without a customer there is no portal', async (t) => {
	const { route, customer, subscriptions, tell, app, project, admin } = await setupBilling(t)
	t.is((await route('POST', 'billing-portal')).json().error.code, 'BAD_REQUEST')
	t.deepEqual((await route('GET', 'billing-invoices')).json(), {
		invoices: [],
		hasUnpaidInvoices: false,
	})
	const state = async () =>
		(
			await app.inject({ url: `/projects/${project.id}/setup-state`, headers: admin.headers })
		).json().hasSubscription as boolean
	t.false(await state())
	const id = await customer()
	subscriptions.set(id, [subscription('active')])
	await tell('checkout.session.completed', id)
	t.true(await state())
	const again = await route('POST', 'checkout')
	t.is(again.statusCode, 400)
	t.is(again.json().error.code, 'BAD_REQUEST')
})

test('limits are set and cleared one by one, and show their usage', async (t) => {
	const { route, use, customer, subscriptions, tell } = await setupBilling(t)
	const id = await customer()
	subscriptions.set(id, [subscription('active')])
	await tell('customer.subscription.created', id)
	const free = { limit: null, usage: 0, percentage: 0, isWarning: false, isBlocked: false }
	t.deepEqual((await route('GET', 'billing-limits')).json(), {
		workflows: free,
		campaigns: free,
		transactional: free,
		inbound: free,
		currency: 'eur',
	})
	await use('transactional', 8)
	const put = (limits: object) => route('PUT', 'billing-limits', limits)
	const set = (await put({ transactional: 10, campaigns: 5 })).json()
	t.deepEqual(set.transactional, {
		limit: 10,
		usage: 8,
		percentage: 80,
		isWarning: true,
		isBlocked: false,
	})
	t.deepEqual(set.campaigns, { ...free, limit: 5 })
	await use('transactional', 2)
	const kept = (await put({ campaigns: null })).json()
	t.deepEqual(kept.campaigns, free)
	t.like(kept.transactional, { limit: 10, percentage: 100, isBlocked: true })
	t.deepEqual((await route('GET', 'billing-limits')).json(), kept)
	for (const wrong of [0, -1, 1.5, '10', 2 ** 31, true]) {
		const answer = await put({ inbound: wrong })
		t.is(answer.statusCode, 422, String(wrong))
		t.is(answer.json().error.errors[0].field, 'inbound')
	}
})

test('consumption is this month’s, and its amount comes from Stripe', async (t) => {
	const { route, use, execute, project, customer, subscriptions, tell } = await setupBilling(t)
	await use('campaigns', 3)
	await use('inbound', 2)
	await execute(
		`insert into usage_counts (project_id, month, category, used, sent) values ($1, '2020-01-01', 'campaigns', 9, 9)`,
		[project.id],
	)
	const before = (await route('GET', 'billing-consumption')).json()
	t.deepEqual(before.usage, {
		total: 5,
		byCategory: { workflows: 0, campaigns: 3, transactional: 0, inbound: 2 },
	})
	t.is(before.upcomingInvoice, null)
	t.regex(before.period.start, /-01T00:00:00\.000Z$/)
	t.true(new Date(before.period.end) > new Date())
	const id = await customer()
	subscriptions.set(id, [subscription('active')])
	await tell('customer.subscription.created', id)
	t.like((await route('GET', 'billing-consumption')).json().upcomingInvoice, {
		amountDue: 1234,
		currency: 'eur',
	})
})

test('consumption is shown after a subscription was cancelled and has no further invoice', async (t) => {
	const { route, use, customer, subscriptions, tell, faults } = await setupBilling(t)
	const id = await customer()
	subscriptions.set(id, [subscription('active', { cancel_at_period_end: true })])
	await tell('customer.subscription.updated', id)
	await use('campaigns', 3)
	faults.push({ path: '/v1/invoices/create_preview', status: 404, code: 'invoice_upcoming_none' })
	const answer = await route('GET', 'billing-consumption')
	t.is(answer.statusCode, 200, answer.body)
	t.is(answer.json().usage.total, 3)
	t.is(answer.json().upcomingInvoice, null)
})

test('consumption counts mail that was accepted and waits, as limits do', async (t) => {
	const { route, send } = await setupBilling(t)
	t.is((await send()).statusCode, 200)
	const { usage } = (await route('GET', 'billing-consumption')).json()
	t.is(usage.total, 1)
	t.is((await route('GET', 'billing-limits')).json().transactional.usage, 1)
})

test('invoices are shown with their payment status', async (t) => {
	const { route, customer, invoices } = await setupBilling(t)
	const id = await customer()
	const invoice = {
		id: 'in_1',
		number: 'A-1',
		status: 'paid',
		amount_due: 500,
		amount_paid: 500,
		amount_remaining: 0,
		total: 500,
		currency: 'eur',
		created: 1_790_000_000,
		period_start: 1_780_000_000,
		period_end: 1_790_000_000,
		hosted_invoice_url: 'https://invoice.stripe.test/1',
		invoice_pdf: null,
	}
	invoices.set(id, [invoice])
	t.deepEqual((await route('GET', 'billing-invoices')).json(), {
		invoices: [
			{
				id: 'in_1',
				number: 'A-1',
				status: 'paid',
				amountDue: 500,
				amountPaid: 500,
				currency: 'eur',
				created: '2026-09-21T14:13:20.000Z',
				periodStart: '2026-05-28T20:26:40.000Z',
				periodEnd: '2026-09-21T14:13:20.000Z',
				hostedInvoiceUrl: 'https://invoice.stripe.test/1',
				invoicePdf: null,
				total: 500,
				paid: true,
			},
		],
		hasUnpaidInvoices: false,
	})
	invoices.set(id, [
		invoice,
		{ ...invoice, id: 'in_2', status: 'open', amount_paid: 0, amount_remaining: 500 },
	])
	t.true((await route('GET', 'billing-invoices')).json().hasUnpaidInvoices)
})

test('when Stripe refuses, breaks or is away, the answer is 503 and says so', async (t) => {
	const { route, customer, faults } = await setupBilling(t)
	await customer()
	const path = '/v1/invoices'
	for (const fault of [
		{ path, status: 500 },
		{ path, status: 401 },
		{ path, cut: 'before' as const },
	]) {
		faults.push(fault)
		const answer = await route('GET', 'billing-invoices')
		t.is(answer.statusCode, 503)
		t.is(answer.json().error.code, 'EXTERNAL_SERVICE_ERROR')
		t.truthy(answer.headers['retry-after'])
		t.notRegex(answer.body, /sk_test|It is not to be/)
	}
	t.is((await route('GET', 'billing-invoices')).statusCode, 200)
})
