import type Sdk from 'stripe'
import { isStripeError, type Stripe } from './client.ts'

/** The state of a customer's subscription. */
export interface SubscriptionState {
	subscriptionId: string | null
	/** Whether there is a subscription, including an unpaid one. */
	subscribed: boolean
	currency: string | null
	/** Whether Stripe has made its last attempt to collect a payment. */
	hasFailed: boolean
}

const openStatuses = ['active', 'trialing', 'past_due', 'unpaid']

/**
 * Asked after every Stripe event, because the current state doesn't depend on the order of the events. Of
 * several subscriptions the oldest counts.
 */
export async function subscriptionState(
	{ sdk }: Stripe,
	customer: string,
): Promise<SubscriptionState> {
	const { data } = await sdk.subscriptions.list({
		customer,
		status: 'all',
		limit: 100,
		expand: ['data.latest_invoice'],
	})
	// They are listed newest first.
	const current = data.findLast(({ status }) => openStatuses.includes(status))
	const last = current ?? data[0]
	return {
		subscriptionId: last?.id ?? null,
		subscribed: current !== undefined,
		currency: last?.currency ?? null,
		hasFailed: last !== undefined && hasFailed(last),
	}
}

function hasFailed({ status, latest_invoice, cancellation_details }: Sdk.Subscription) {
	const invoice = typeof latest_invoice === 'string' ? null : latest_invoice
	const isOpen = invoice?.status === 'open' || invoice?.status === 'uncollectible'
	if (status === 'unpaid') return true
	if (status === 'past_due') return isOpen && invoice.attempted && !invoice.next_payment_attempt
	return status === 'canceled' && isOpen && cancellation_details?.reason === 'payment_failed'
}

/**
 * Cancels all subscriptions of a customer, including those that wait for a first payment. The rest due is
 * invoiced.
 */
export async function endSubscriptions({ sdk }: Stripe, customer: string) {
	// Without a status, the list leaves out cancelled ones.
	const { data } = await sdk.subscriptions.list({ customer, limit: 100 })
	for (const { id, status } of data) {
		if (status === 'incomplete_expired') continue
		try {
			await sdk.subscriptions.cancel(id, { invoice_now: true })
		} catch (error) {
			// The customer was faster.
			if (!(isStripeError(error) && error.statusCode === 404)) throw error
		}
	}
}
