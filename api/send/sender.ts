import { Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import { Domain } from '../../db/domains/domain.ts'
import { ApiError } from '../errors.ts'
import { about, Component, Email, Line, normalizeEmail, Nullable } from '../schemas.ts'

/** As in `/v1/send`: an address, or an address with a name. */
export const Sender = Type.Union([
	Email,
	Component('Sender', {
		name: Type.Optional(about('The name beside the address.', Nullable(Line({ maxLength: 100 })))),
		email: about('The address.', Email),
	}),
])
type Sender = Type.Static<typeof Sender>
export type WithSender<T> = Omit<T, 'from'> & { from?: string }

/** A name beside the address is the `fromName`. */
export function withSender<T extends { from?: Sender; fromName?: string | null }>(
	body: T,
): T extends { from: Sender } ? WithSender<T> & { from: string } : WithSender<T>
export function withSender({ from, ...body }: { from?: Sender; fromName?: string | null }) {
	if (from === undefined) return body
	if (typeof from === 'string') return { ...body, from }
	const name = from.name?.trim()
	return { ...body, from: from.email, ...(name ? { fromName: name } : {}) }
}

export const domainOf = (email: string) => email.slice(email.lastIndexOf('@') + 1)

/** Refuses a sender whose domain is not the project's, or not verified; null: it has no such domain. */
export function checkSender(from: string, verified: boolean | null) {
	if (verified) return
	const domain = domainOf(normalizeEmail(from))
	const why = verified === null ? 'is not a domain of this project' : 'is not verified yet'
	throw new ApiError(403, 'INTERNAL_SERVER_ERROR', `The sender's domain ${domain} ${why}`, {
		details: { domain },
		suggestion:
			verified === null
				? 'Add it with POST /domains or on the page Domains of the console, and verify it. Or send from a verified domain.'
				: 'Set its DNS records, then verify it with GET /domains/{id}/verify or on the page Domains of the console.',
	})
}

/** The same for one address, with a query of its own. */
export async function requireSender(em: EntityManager, projectId: string, from: string) {
	const domain = await em.findOne(Domain, { projectId, domain: domainOf(normalizeEmail(from)) })
	checkSender(from, domain ? domain.verifiedAt != null : null)
}
