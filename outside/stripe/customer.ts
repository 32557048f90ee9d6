import { randomUUID } from 'node:crypto'
import type Sdk from 'stripe'
import { isInternal, type Stripe } from './client.ts'

/** Repeated calls for the same project create only one customer, and one more in place of a lost one. */
export async function createCustomer({ sdk }: Stripe, projectId: string, lostId: string | null) {
	const parameters = { metadata: { projectId } }
	const about = lostId === null ? projectId : `${projectId}/${lostId}`
	const made = await underKey(`customer/${about}`, (idempotencyKey) =>
		sdk.customers.create(parameters, { idempotencyKey }),
	)
	return made.id
}

interface Checkout {
	projectId: string
	customerId: string
	/** The latest subscription. */
	subscriptionId: string | null
	priceId: string
	currency: string | undefined
	returnUrl: string
}

/**
 * The address of the page for entering payment details. Repeated requests on the same day and in the same
 * currency get the same page. Once a customer has subscribed on one page, the others are closed. Invoices
 * cover calendar months, like the usage.
 */
export async function checkoutUrl({ sdk }: Stripe, checkout: Checkout): Promise<string> {
	const { projectId, customerId, subscriptionId, priceId, currency, returnUrl } = checkout
	const price = await sdk.prices.retrieve(priceId)
	const isMetered = price.recurring?.usage_type === 'metered'
	const now = new Date()
	const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
	const parameters: Sdk.Checkout.SessionCreateParams = {
		mode: 'subscription',
		customer: customerId,
		client_reference_id: projectId,
		...(currency && { currency }),
		// A metered price has no quantity in advance.
		line_items: [{ price: priceId, ...(isMetered ? {} : { quantity: 1 }) }],
		subscription_data: { metadata: { projectId }, billing_cycle_anchor: nextMonth / 1000 },
		success_url: returnUrl,
		cancel_url: returnUrl,
	}
	const day = now.toISOString().slice(0, 10)
	const about = [projectId, customerId, subscriptionId, priceId, currency, day].join('/')
	const session = await underKey(`checkout/${about}`, (idempotencyKey) =>
		sdk.checkout.sessions.create(parameters, { idempotencyKey }),
	)
	return session.url!
}

/**
 * Closes all open checkout pages, so that nobody can subscribe on them any more. Stripe refuses to close a
 * page that is being paid at this moment; a retry no longer finds it among the open ones.
 */
export async function expireCheckouts({ sdk }: Stripe, customer: string) {
	const { data } = await sdk.checkout.sessions.list({ customer, status: 'open', limit: 100 })
	for (const { id } of data) await sdk.checkout.sessions.expire(id)
}

/** The address of the page for changing payment details, reading invoices and unsubscribing. */
export async function portalUrl({ sdk }: Stripe, customer: string, returnUrl: string) {
	return (await sdk.billingPortal.sessions.create({ customer, return_url: returnUrl })).url
}

/** With the same key, Stripe would also repeat an internal error of its own. */
export async function underKey<T>(key: string, call: (key: string) => Promise<T>): Promise<T> {
	try {
		return await call(key)
	} catch (error) {
		if (isInternal(error)) return call(randomUUID())
		throw error
	}
}
