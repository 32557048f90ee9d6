import type { ExecutionContext } from 'ava'
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

type Form = Record<string, string>
interface Call {
	method: string
	path: string
	form: Form
	key: string | undefined
}
interface Subscription {
	id: string
	latest_invoice: object | null
}
interface Answer {
	status: number
	body: object
}

export const stripeSecret = 'whsec_a secret of the tests'
const apiKey = 'sk_test_of_the_tests'

/**
 * The part of Stripe's API that we call, following its documentation: forms in, JSON out. A POST repeated
 * under its key gets the same answer. A meter recognises its events by their identifiers.
 */
export async function startStripe(t: ExecutionContext, { metered = true } = {}) {
	const calls: Call[] = []
	const answered = new Map<string, Answer>()
	const subscriptions = new Map<string, object[]>()
	const sessions: { id: string; customer: string; status: string; url: string }[] = []
	const invoices = new Map<string, object[]>()
	const metering = new Map<string, Form>()
	/** Faults that replace an answer, or happen between processing and answering. */
	const faults: {
		path: string
		status?: number
		code?: string
		cut?: 'before' | 'after'
		/** Stripe repeats the answer under the key of the request, as it does with its internal errors. */
		isKept?: boolean
	}[] = []
	/** Calls, as `GET /v1/…`, that wait before they are processed or before they are answered. */
	const holds = new Map<string, { before?: Promise<void>; after?: Promise<void> }>()

	/** Deleted at Stripe, or of its test mode. */
	const lostCustomers = new Set<string>()

	const fault = (status: number, message: string, code?: string, param?: string): Answer => ({
		status,
		body: {
			error: {
				type: 'invalid_request_error',
				message,
				...(code && { code }),
				...(param && { param }),
			},
		},
	})

	/** The latest invoices of subscriptions are invoices of their customer, too. */
	function invoicesOf(customer: string) {
		const latest = ((subscriptions.get(customer) ?? []) as Subscription[]).flatMap(
			({ id, latest_invoice: invoice }) => (invoice ? [{ ...invoice, ...invoiceFor(id) }] : []),
		)
		return [...(invoices.get(customer) ?? []), ...latest]
	}

	function answer({ method, path, form }: Call): Answer {
		const ok = (body: object): Answer => ({ status: 200, body })
		const route = `${method} ${path}`
		const customer = form['customer'] ?? ''
		if (route === 'POST /v1/customers') return ok({ id: `cus_${randomUUID()}`, object: 'customer' })
		if (route === 'GET /v1/prices/price_1')
			return ok({
				id: 'price_1',
				recurring: { usage_type: metered ? 'metered' : 'licensed', meter: 'mtr_1' },
			})
		if (route === 'GET /v1/billing/meters/mtr_1')
			return ok({
				id: 'mtr_1',
				event_name: 'mails',
				customer_mapping: { type: 'by_id', event_payload_key: 'stripe_customer_id' },
				value_settings: { event_payload_key: 'value' },
			})
		if (lostCustomers.has(customer))
			return fault(400, `No such customer: '${customer}'`, 'resource_missing', 'customer')
		if (route === 'POST /v1/checkout/sessions') {
			const wants = form['line_items[0][quantity]']
			if (metered ? wants !== undefined : wants !== '1')
				return fault(400, 'This quantity does not go with this price')
			const id = `cs_${randomUUID()}`
			const session = { id, customer, status: 'open', url: `https://checkout.stripe.test/${id}` }
			sessions.push(session)
			return ok({ ...session })
		}
		if (route === 'GET /v1/checkout/sessions') {
			const isWanted = (one: { customer: string; status: string }) =>
				one.customer === customer && one.status === (form['status'] ?? one.status)
			return ok({ data: sessions.filter(isWanted).toReversed() })
		}
		const [, expiring] = /^POST \/v1\/checkout\/sessions\/(.+)\/expire$/.exec(route) ?? []
		if (expiring) {
			const session = sessions.find(({ id }) => id === expiring)
			if (session?.status !== 'open')
				return fault(400, 'Only Checkout Sessions with a status in ["open"] can be expired.')
			return ok(Object.assign(session, { status: 'expired' }))
		}
		if (route === 'POST /v1/billing_portal/sessions')
			return ok({ id: 'bps_1', url: `https://portal.stripe.test/${customer}` })
		if (route === 'GET /v1/subscriptions') {
			const list = (subscriptions.get(customer) ?? []) as { status: string }[]
			const isWanted = ({ status }: { status: string }) =>
				form['status'] === 'all' || status !== 'canceled'
			return ok({ data: list.filter(isWanted) })
		}
		if (route === 'GET /v1/invoices') return ok({ data: invoicesOf(customer) })
		if (route === 'POST /v1/invoices/create_preview') {
			const period = { period_start: 1_790_000_000, period_end: 1_792_000_000 }
			return ok({ amount_due: 1234, currency: 'eur', ...period })
		}
		if (route === 'POST /v1/billing/meter_events') {
			const identifier = form['identifier'] ?? randomUUID()
			if (metering.has(identifier))
				return fault(400, `An event already exists with identifier ${identifier}.`)
			metering.set(identifier, form)
			return ok({ object: 'billing.meter_event', identifier })
		}
		const [, subscription] = /^DELETE \/v1\/subscriptions\/(.+)$/.exec(route) ?? []
		if (subscription) {
			for (const list of subscriptions.values())
				for (const one of list as { id: string; status: string }[])
					if (one.id === subscription && one.status !== 'canceled')
						return ok(Object.assign(one, { status: 'canceled' }))
			return fault(404, 'No such subscription', 'resource_missing')
		}
		return fault(404, `Unrecognized request URL (${route})`)
	}

	async function callOf(request: IncomingMessage): Promise<Call> {
		const chunks: Buffer[] = []
		for await (const chunk of request) chunks.push(chunk as Buffer)
		const { pathname, searchParams } = new URL(request.url!, 'http://stripe.test')
		const form =
			request.method === 'POST'
				? new URLSearchParams(Buffer.concat(chunks).toString())
				: searchParams
		const key = request.headers['idempotency-key'] as string | undefined
		return { method: request.method!, path: pathname, form: Object.fromEntries(form), key }
	}

	function replyTo(call: Call, isKnown: boolean): Answer {
		if (!isKnown) return fault(401, 'Invalid API Key provided')
		if (call.method !== 'POST') return answer(call)
		if (!call.key) return fault(400, 'The tests want a key on every POST')
		const before = answered.get(call.key)
		if (before) return before
		const now = answer(call)
		answered.set(call.key, now)
		return now
	}

	const server = createServer((request, response) => {
		void callOf(request).then(async (call) => {
			calls.push(call)
			const hold = holds.get(`${call.method} ${call.path}`)
			await hold?.before
			const at = faults.findIndex(({ path }) => path === call.path)
			const [wrong] = at < 0 ? [] : faults.splice(at, 1)
			if (wrong?.cut === 'before') return void request.socket.destroy()
			const isKnown = request.headers.authorization === `Bearer ${apiKey}`
			const { status, body } = wrong?.status
				? fault(wrong.status, 'It is not to be', wrong.code)
				: replyTo(call, isKnown)
			if (wrong?.isKept && call.key) answered.set(call.key, { status, body })
			await hold?.after
			if (wrong?.cut === 'after') return void request.socket.destroy()
			response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
		})
	})
	await once(server.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => {
		server.closeAllConnections()
		server.close()
	})
	const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
	return {
		stripe: { secretKey: apiKey, priceId: 'price_1', base },
		calls,
		faults,
		holds,
		answered,
		sessions,
		subscriptions,
		invoices,
		lostCustomers,
		/** The total of a customer's meter. */
		metered: (customer: string) =>
			[...metering.values()]
				.filter((form) => form['payload[stripe_customer_id]'] === customer)
				.reduce((sum, form) => sum + Number(form['payload[value]']), 0),
		metering,
	}
}

/** A subscription as `GET /v1/subscriptions` lists it. */
export const subscription = (status: string, more: object = {}) => ({
	id: 'sub_1',
	status,
	currency: 'eur',
	latest_invoice: null,
	cancellation_details: { reason: null },
	...more,
})

/** The part of an invoice that names its subscription. */
export const invoiceFor = (subscription: string) => ({
	parent: { type: 'subscription_details', subscription_details: { subscription } },
})

/** An event as Stripe posts it. */
export function stripeEvent(
	type: string,
	customer: string | null,
	{ id = `evt_${randomUUID()}`, at = Date.now(), secret = stripeSecret, header = '' } = {},
) {
	const payload = JSON.stringify({ id, object: 'event', type, data: { object: { customer } } })
	const t = Math.floor(at / 1000)
	const signature = createHmac('sha256', secret).update(`${t}.${payload}`).digest('hex')
	return {
		method: 'POST',
		url: '/webhooks/incoming/stripe',
		headers: {
			'content-type': 'application/json',
			'stripe-signature': header || `t=${t},v1=${signature}`,
		},
		payload,
	} as const
}
