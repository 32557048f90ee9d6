import { Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { decideSubscription, publicContact } from '../../db/contacts/subscription.ts'
import { createFairTurns } from '../../db/fair-turns.ts'
import { isLocked, transaction } from '../../db/transaction.ts'
import { countTry } from '../accounts/throttling.ts'
import { notFound } from '../errors.ts'

/** `e` is the id of the mail that linked here; anything that is not an id is ignored. */
export const FromMail = Type.Object({
	e: Type.Optional(
		Type.Unknown({
			description: 'The id of the mail whose link led here',
			'x-documented': { type: 'string' },
		}),
	),
})

export interface Visit {
	params: { id: string }
	query: { e?: unknown }
}

export interface Decision {
	subscribed: boolean
	/** Whether to stop all mail; null: unchanged. */
	stops: boolean | null
}

/** The contact whose page is visited, and the mail that linked there. */
export async function viewOf(pool: Pool, { params: { id }, query: { e } }: Visit) {
	const emailId = mailOf(e)
	const [contact] = isUuid(id) ? await publicContact(pool, { contactId: id, emailId }) : []
	if (!contact) throw notFound('contact', id)
	return { contact, emailId }
}

/** A reader's decision is not refused because an import has locked the contact. */
const patienceMs = 30_000
/** For the lock, with a connection. Then it waits for its next turn without one. */
const turnMs = 1000
/** By contact: those that wait for locks leave most connections to others, and turns to other readers. */
const inTurn = createFairTurns({ atOnce: 5, ofOne: 1, waiting: 20, patienceMs })

async function decided(pool: Pool, decision: Parameters<typeof decideSubscription>[1]) {
	const endsAt = performance.now() + patienceMs
	for (;;)
		try {
			return await inTurn(decision.contactId.toLowerCase(), () =>
				transaction(
					pool,
					(db) => decideSubscription(db, decision),
					`set local lock_timeout = ${turnMs}`,
				),
			)
		} catch (error) {
			if (!isLocked(error) || performance.now() > endsAt) throw error
		}
}

/**
 * Every change of the subscription is stored as an event and may start workflows, so subscribing is
 * rate-limited. Unsubscribing never is. Wake the relay after it.
 */
export async function decide(pool: Pool, visit: Visit, { subscribed, stops }: Decision) {
	const { id } = visit.params
	const emailId = mailOf(visit.query.e)
	if (subscribed) {
		const { contact } = await viewOf(pool, visit)
		await countTry(pool, { what: 'subscribe', subject: contact.id, tries: 20, seconds: 3600 })
	}
	const values = { contactId: id, subscribed, emailId, stopsAllMail: stops }
	const [contact] = isUuid(id) ? await decided(pool, values) : []
	if (!contact) throw notFound('contact', id)
	return { contact, emailId }
}

const isUuid = (text: unknown): text is string =>
	typeof text === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
const mailOf = (e: unknown) => (isUuid(e) ? e : null)
