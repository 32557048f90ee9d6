import type { FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { sendContext } from '../../db/emails/acceptance.ts'
import { type FieldError, notFound } from '../errors.ts'
import { claimLost } from '../requests/idempotency.ts'
import { acceptWithinLimit, refuseOver } from './send-limit.ts'
import { planSend } from './send-mails.ts'
import { readSend, type SendBody, type SendLimits } from './send-request.ts'
import { checkSender, domainOf } from './sender.ts'

const tries = 5

/** What a request is known by before its body is read. */
export type Asked = Pick<FastifyRequest, 'project' | 'idempotency' | 'headers'>

export interface SendOptions extends SendLimits {
	publicUrl: string
	features: { billing: boolean }
}

/** Everything between a body that has been parsed and its answer: it is refused, or written as a whole. */
export async function acceptRequest(
	pool: Pool,
	asked: Asked,
	body: SendBody,
	faults: FieldError[],
	options: SendOptions,
) {
	const { project, idempotency } = asked
	const wanted = await readSend(project.id, body, options, faults)
	const addresses = [...new Set(wanted.recipients.map(({ email }) => email))]
	for (let attempt = 1; ; attempt++) {
		const [context] = await sendContext(pool, [
			project.id,
			body.template ?? null,
			wanted.from ? domainOf(wanted.from.email) : null,
			addresses,
			1 + addresses.length + wanted.recipients.length,
			options.features.billing,
		])
		if (body.template && !context!.template) throw notFound('template', body.template)
		checkSender(wanted.from?.email ?? context!.template!.from, context!.verified)
		const sender = { project, publicUrl: options.publicUrl }
		const weight = wanted.recipients.length * (wanted.files.length > 0 ? 2 : 1)
		const { limit } = context!
		refuseOver(limit, weight)
		const plan = await planSend(body, wanted, context!, sender)
		const answer = answerOf(plan.mails)
		try {
			const taken = { projectId: project.id, weight, limit }
			await acceptWithinLimit(pool, taken, [
				project.id,
				JSON.stringify(plan.contacts.map(({ id, email, name }) => ({ id, email, name }))),
				JSON.stringify(plan.stored),
				plan.removed,
				body.subscribed ?? null,
				JSON.stringify(plan.mails),
				plan.requestId,
				JSON.stringify(wanted.files),
				idempotency?.key ?? null,
				idempotency?.claimId ?? null,
				idempotency ? JSON.stringify(answer, withoutAddresses) : null,
			])
		} catch (error) {
			if (attempt < tries && isLostRace(error)) continue
			if (isClaimLost(error)) throw claimLost(asked)
			throw error
		}
		return answer
	}
}

/** What is kept of it: see db/idempotency-key.ts. */
const withoutAddresses = (member: string, value: unknown) =>
	member === 'contact' ? { id: (value as { id: string }).id } : value

const answerOf = (mails: { id: string; contactId: string; to: string }[]) => ({
	success: true as const,
	data: {
		emails: mails.map(({ id, contactId, to }) => ({
			contact: { id: contactId, email: to },
			email: id,
		})),
		timestamp: new Date(),
	},
})

/**
 * Between our reading and our writing somebody else wrote one of our new contacts first, took a contact
 * or the template away, or gave a contact another address: reading again shows it.
 */
const racedFor = new Set([
	'emails_contact',
	'emails_template',
	'contacts_pkey',
	'contacts_project_id_id_unique',
])

const isLostRace = (error: unknown) => {
	const { code, constraint } = error as { code?: string; constraint?: string }
	// Or they wanted the same contacts in another order.
	return code === '40P01' || (constraint !== undefined && racedFor.has(constraint))
}

/** The division by zero in the statement: it found no claim of ours to complete. */
const isClaimLost = (error: unknown) => (error as { code?: string }).code === '22012'
