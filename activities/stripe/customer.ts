import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import type { Stripe } from './client.ts'

const Made = Type.Object({ id: Type.String() })
const Session = Type.Object({ url: Type.String() })
const Price = Type.Object({ recurring: Type.Object({ usage_type: Type.String() }) })

/** Asked twice for the same project, Stripe makes one. */
export const createCustomer = async (stripe: Stripe, projectId: string) =>
	(await stripe.post('/v1/customers', { metadata: { projectId } }, Made, `customer/${projectId}`))
		.id

interface Checkout {
	projectId: string
	customerId: string
	priceId: string
	currency: string | undefined
	returnUrl: string
}

/** Where they enter how they pay. The invoices are for calendar months, as the usage is. */
export async function checkoutUrl(stripe: Stripe, checkout: Checkout): Promise<string> {
	const { projectId, customerId, priceId, currency, returnUrl } = checkout
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
	return (await stripe.post('/v1/checkout/sessions', parameters, Session, randomUUID())).url
}

/** Where they change how they pay, see their invoices, and unsubscribe. */
export async function portalUrl(stripe: Stripe, customerId: string, returnUrl: string) {
	const parameters = { customer: customerId, return_url: returnUrl }
	return (await stripe.post('/v1/billing_portal/sessions', parameters, Session, randomUUID())).url
}
