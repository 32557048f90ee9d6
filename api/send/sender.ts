import type { EntityManager } from '@mikro-orm/postgresql'
import { Domain } from '../../db/domains/domain.ts'
import { ApiError } from '../errors.ts'
import { normalizeEmail } from '../schemas.ts'

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
				? 'Add it with POST /domains and verify it, or send from a verified domain.'
				: 'Set the DNS records that POST /domains returned, then call GET /domains/{id}/verify.',
	})
}

/** The same for one address, where nothing else has to be read with it. */
export async function requireSender(em: EntityManager, projectId: string, from: string) {
	const domain = await em.findOne(Domain, { projectId, domain: domainOf(normalizeEmail(from)) })
	checkSender(from, domain ? domain.verifiedAt != null : null)
}
