import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import Value from 'typebox/value'
import { renderPlatformMail } from '../../mail/platform/mail.ts'
import type { Stripe } from '../../outside/stripe/client.ts'
import { expireCheckouts } from '../../outside/stripe/customer.ts'
import { subscriptionState } from '../../outside/stripe/subscription.ts'
import { type Ask, applySubscription } from '../../db/billing/billing-accounts.ts'
import type { Readers } from '../../db/projects/members.ts'
import { transaction } from '../../db/transaction.ts'
import { ApiError } from '../errors.ts'
import { Received } from '../reputation/webhooks.ts'
import { keepBytes } from '../requests/signed-body.ts'
import { viaStripe } from './stripe-fault.ts'
import { verifyStripe } from './stripe-signature.ts'
import { createTurns } from './turns.ts'

const Event = Type.Object({
	id: Type.String({ minLength: 1, maxLength: 255 }),
	type: Type.String(),
	data: Type.Object({
		object: Type.Object({ customer: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
	}),
})

/** Each of these only causes a request for the current state, so their order does not matter. */
const heeded = new Set([
	'checkout.session.completed',
	'customer.subscription.created',
	'customer.subscription.updated',
	'customer.subscription.deleted',
	'customer.subscription.paused',
	'customer.subscription.resumed',
	'invoice.paid',
	'invoice.payment_failed',
	'invoice.voided',
	'invoice.marked_uncollectible',
])

/**
 * On the first of a month the events of all subscribers arrive together, and each transaction waits for
 * Stripe. Stripe repeats refused events for three days.
 */
const turns = { atOnce: 3, waiting: 50, patienceMs: 5000 }

interface Options {
	pool: Pool
	stripe: Stripe | undefined
	stripeWebhookSecret: string | undefined
	platformFrom: string
}

/** Events from Stripe. Each is one transaction, and is answered after the commit. */
export const stripeWebhooks: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
	const { pool, stripe, stripeWebhookSecret: secret, platformFrom } = options
	const inTurn = createTurns(turns)
	keepBytes(app)

	app.post(
		'/webhooks/incoming/stripe',
		{
			config: { auth: 'signature', errors: [400, 413, 503], takes: 'application/json' },
			schema: {
				tags: ['webhooks'],
				summary: 'Receive an event from Stripe',
				description:
					'Stripe calls it. The signature covers the raw body, and an event that was received before is ignored.',
				response: { 200: Received },
			},
		},
		async ({ headers, body }) => {
			if (!stripe || !secret) throw notSetUp()
			const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
			verifyStripe(stripe, secret, headers['stripe-signature'], bytes)
			const { id, type, data } = parsed(bytes)
			const customerId = data.object.customer
			if (!heeded.has(type) || !customerId) return { received: true as const, duplicate: false }
			const event = { eventId: `stripe/${id}`, customerId }
			const ask: Ask = async ({ wasSubscribed, hadFailed }) => {
				const state = await subscriptionState(stripe, customerId, hadFailed)
				if (state.subscribed && !wasSubscribed) await expireCheckouts(stripe, customerId)
				return state
			}
			const apply = () => transaction(pool, (db) => applySubscription(db, event, ask, mailsTo))
			const isNew = await viaStripe(() => inTurn(apply))
			// A project may have been suspended, and its campaigns stopped.
			if (isNew) app.relay.wake()
			return { received: true as const, duplicate: !isNew }
		},
	)

	async function mailsTo({ project, language, members }: Readers) {
		const mail = await renderPlatformMail('paymentFailed', language, { project })
		return members.map((to) => ({ from: platformFrom, to, ...mail }))
	}
}

function parsed(bytes: Buffer) {
	try {
		const event: unknown = JSON.parse(bytes.toString())
		if (Value.Check(Event, event)) return event
	} catch {
		// The answer is the same as for JSON that is no event.
	}
	throw new ApiError(400, 'VALIDATION_ERROR', 'The body is not a Stripe event')
}

const notSetUp = () =>
	new ApiError(
		401,
		'UNAUTHORIZED',
		'No Stripe webhook secret is configured, so events can’t be verified',
		{ suggestion: 'Set STRIPE_WEBHOOK_SECRET to the signing secret of the endpoint (whsec_…).' },
	)
