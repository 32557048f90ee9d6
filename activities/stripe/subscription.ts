import Type, { type Static } from 'typebox'
import { type Stripe, StripeError } from './client.ts'

const Nullish = <T extends Type.TSchema>(schema: T) =>
	Type.Optional(Type.Union([schema, Type.Null()]))

const Subscription = Type.Object({
	id: Type.String(),
	status: Type.String(),
	currency: Type.String(),
	cancellation_details: Nullish(Type.Object({ reason: Nullish(Type.String()) })),
	latest_invoice: Nullish(
		Type.Object({
			status: Nullish(Type.String()),
			attempted: Type.Boolean(),
			next_payment_attempt: Nullish(Type.Number()),
		}),
	),
})
const Subscriptions = Type.Object({ data: Type.Array(Subscription) })
type Subscription = Static<typeof Subscription>

/** What a customer has with us. */
export interface Standing {
	subscriptionId: string | null
	/** Whether they have a subscription: also one that is to be paid. */
	subscribed: boolean
	currency: string | null
	/** Whether Stripe has tried for the last time to collect what they owe. */
	hasFailed: boolean
}

const standing = ['active', 'trialing', 'past_due', 'unpaid']

/**
 * Asked whenever Stripe tells that something happened: what holds now does not depend on the order in
 * which it is told. Of several subscriptions the oldest counts.
 */
export async function standingOf(stripe: Stripe, customerId: string): Promise<Standing> {
	const parameters = { customer: customerId, status: 'all', limit: 100 }
	const expand = ['data.latest_invoice']
	const { data } = await stripe.get('/v1/subscriptions', { ...parameters, expand }, Subscriptions)
	// They come newest first.
	const current = data.findLast(({ status }) => standing.includes(status))
	const last = current ?? data[0]
	return {
		subscriptionId: last?.id ?? null,
		subscribed: current !== undefined,
		currency: last?.currency ?? null,
		hasFailed: last !== undefined && hasFailed(last),
	}
}

function hasFailed({ status, latest_invoice: invoice, cancellation_details }: Subscription) {
	const isOpen = invoice?.status === 'open' || invoice?.status === 'uncollectible'
	if (status === 'unpaid') return true
	if (status === 'past_due') return isOpen && invoice.attempted && !invoice.next_payment_attempt
	return status === 'canceled' && isOpen && cancellation_details?.reason === 'payment_failed'
}

const Begun = Type.Object({
	data: Type.Array(Type.Object({ id: Type.String(), status: Type.String() })),
})

/** All that a customer has, also those that wait for a first payment: what they still owe is invoiced. */
export async function endSubscriptions(stripe: Stripe, customerId: string) {
	// Without a status, those that were cancelled are left out.
	const { data } = await stripe.get(
		'/v1/subscriptions',
		{ customer: customerId, limit: 100 },
		Begun,
	)
	for (const { id, status } of data) {
		if (status === 'incomplete_expired') continue
		const path = `/v1/subscriptions/${encodeURIComponent(id)}`
		try {
			await stripe.delete(path, { invoice_now: true }, Type.Object({}))
		} catch (error) {
			// They were faster.
			if (!(error instanceof StripeError && error.status === 404)) throw error
		}
	}
}
