import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import { type Stripe, StripeError } from './client.ts'

const Made = Type.Object({ id: Type.String() })
const Session = Type.Object({ url: Type.String() })
const Sessions = Type.Object({ data: Type.Array(Made) })
const Price = Type.Object({ recurring: Type.Object({ usage_type: Type.String() }) })

/** Asked twice for the same project, Stripe makes one. */
export async function createCustomer(stripe: Stripe, projectId: string) {
	const parameters = { metadata: { projectId } }
	const made = await underKey(`customer/${projectId}`, (key) =>
		stripe.post('/v1/customers', parameters, Made, key),
	)
	return made.id
}

interface Checkout {
	projectId: string
	customerId: string
	/** The one they had last. */
	subscriptionId: string | null
	priceId: string
	currency: string | undefined
	returnUrl: string
}

/**
 * Where they enter how they pay. Whoever asks again on the same day, and in the same currency, gets the
 * same page; what else is open is closed as soon as they have subscribed on one. The invoices are for
 * calendar months, as the usage is.
 */
export async function checkoutUrl(stripe: Stripe, checkout: Checkout): Promise<string> {
	const { projectId, customerId, subscriptionId, priceId, currency, returnUrl } = checkout
	const price = await stripe.get(`/v1/prices/${encodeURIComponent(priceId)}`, {}, Price)
	const isMetered = price.recurring.usage_type === 'metered'
	const now = new Date()
	const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
	const parameters = {
		mode: 'subscription',
		customer: customerId,
		client_reference_id: projectId,
		currency,
		// Of what is metered nobody says beforehand how much.
		line_items: [{ price: priceId, quantity: isMetered ? undefined : 1 }],
		subscription_data: { metadata: { projectId }, billing_cycle_anchor: nextMonth / 1000 },
		success_url: returnUrl,
		cancel_url: returnUrl,
	}
	const day = now.toISOString().slice(0, 10)
	const about = [projectId, customerId, subscriptionId, priceId, currency, day].join('/')
	const session = await underKey(`checkout/${about}`, (key) =>
		stripe.post('/v1/checkout/sessions', parameters, Session, key),
	)
	return session.url
}

/**
 * Nobody subscribes any more on the pages that are open. Stripe refuses to close one that is paid at this
 * moment; whoever comes again does not find it among them.
 */
export async function expireCheckouts(stripe: Stripe, customerId: string) {
	const parameters = { customer: customerId, status: 'open', limit: 100 }
	const { data } = await stripe.get('/v1/checkout/sessions', parameters, Sessions)
	for (const { id } of data) {
		const path = `/v1/checkout/sessions/${encodeURIComponent(id)}/expire`
		await stripe.post(path, {}, Made, randomUUID())
	}
}

/** Where they change how they pay, see their invoices, and unsubscribe. */
export async function portalUrl(stripe: Stripe, customerId: string, returnUrl: string) {
	const parameters = { customer: customerId, return_url: returnUrl }
	return (await stripe.post('/v1/billing_portal/sessions', parameters, Session, randomUUID())).url
}

/** Under its key Stripe would repeat a breakdown of its own, too. */
async function underKey<T>(key: string, call: (key: string) => Promise<T>): Promise<T> {
	try {
		return await call(key)
	} catch (error) {
		if (error instanceof StripeError && (error.status ?? 0) >= 500) return call(randomUUID())
		throw error
	}
}
