import type Sdk from 'stripe'
import { isStripeError, type Stripe } from './client.ts'
import { isUnpaid } from './invoices.ts'

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
 * several subscriptions the oldest counts. After a failed payment (`hadFailed`) all invoices have to be paid, because the
 * latest one may only be a draft.
 */
export async function subscriptionState(
	stripe: Stripe,
	customer: string,
	hadFailed: boolean,
): Promise<SubscriptionState> {
	const { data } = await stripe.sdk.subscriptions.list({
		customer,
		status: 'all',
		limit: 100,
		expand: ['data.latest_invoice'],
	})
	// They are listed newest first.
	const current = data.findLast(({ status }) => openStatuses.includes(status))
	const last = current ?? data[0]
	const replaced = current ? data.filter(isCancelledUnpaid).map(({ id }) => id) : []
	const isOwed = (id: string | undefined) =>
		hadFailed ? !replaced.includes(id ?? '') : id === last?.id
	return {
		subscriptionId: last?.id ?? null,
		subscribed: current !== undefined,
		currency: last?.currency ?? null,
		hasFailed:
			(last !== undefined && hasFailed(last)) ||
			((hadFailed || isOverdue(last)) && (await hasFailedInvoice(stripe, customer, isOwed))),
	}
}

/**
 * Whether a payment has failed for good among the newest hundred invoices. A customer whose subscription Stripe
 * cancelled for non-payment may begin another one: the invoices of the ended one no longer count then.
 */
async function hasFailedInvoice(
	{ sdk }: Stripe,
	customer: string,
	isOwed: (subscriptionId: string | undefined) => boolean,
) {
	const { data } = await sdk.invoices.list({ customer, limit: 100 })
	return data.some((invoice) => {
		const of = invoice.parent?.subscription_details?.subscription
		const subscriptionId = typeof of === 'object' ? of.id : of
		return isUnpaid(invoice) && isGivenUp(invoice) && isOwed(subscriptionId)
	})
}

const isCancelledUnpaid = ({ status, cancellation_details }: Sdk.Subscription) =>
	status === 'canceled' && cancellation_details?.reason === 'payment_failed'

/** An earlier invoice may have failed for good while the latest one is only a draft or is still tried. */
const isOverdue = (subscription: Sdk.Subscription | undefined) =>
	subscription !== undefined &&
	(subscription.status === 'past_due' || isCancelledUnpaid(subscription))

/** Stripe has made its last attempt, or the operator expects none to succeed. */
const isGivenUp = ({ status, attempted, next_payment_attempt }: Sdk.Invoice) =>
	status === 'uncollectible' || (attempted && !next_payment_attempt)

function hasFailed(subscription: Sdk.Subscription) {
	const { status, latest_invoice } = subscription
	const invoice = typeof latest_invoice === 'string' ? null : latest_invoice
	const isOpen = invoice?.status === 'open' || invoice?.status === 'uncollectible'
	if (status === 'unpaid') return true
	// A subscription whose latest invoice is uncollectible is active again.
	if (invoice?.status === 'uncollectible' && status !== 'canceled') return true
	if (status === 'past_due') return isOpen && isGivenUp(invoice)
	return isOpen && isCancelledUnpaid(subscription)
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
