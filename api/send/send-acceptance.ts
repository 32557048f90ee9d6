import type { FastifyRequest } from 'fastify'
import { isMainThread } from 'node:worker_threads'
import type { Pool } from 'pg'
import { bytesOfContacts } from '../../db/contacts/contact-list.ts'
import type { Acceptance } from '../../db/emails/acceptance-groups.ts'
import { isClaimLost } from '../../db/idempotency-key.ts'
import { tracer } from '../../outside/telemetry/tracer.ts'
import { type FieldError, notFound } from '../errors.ts'
import { claimLost } from '../requests/idempotency.ts'
import { LargeMails } from './send-effort.ts'
import { acceptWithinLimit, refuseOver } from './send-limit.ts'
import { planSend } from './send-mails.ts'
import { readSend, type SendBody, type SendLimits } from './send-request.ts'
import { checkSender, domainOf } from './sender.ts'

const tries = 5
/** Each has at most 64 KB of data. */
const fewContacts = 4
const mostDataOnLoop = 256 * 2 ** 10

/** The parts of a request that are known before its body is read. */
export type Asked = Pick<FastifyRequest, 'project' | 'idempotency' | 'headers'>

export interface SendOptions extends SendLimits {
	publicUrl: string
	features: { billing: boolean }
}

/** Takes a parsed body to its answer: the request is refused, or written as a whole. */
export async function acceptRequest(
	acceptance: Acceptance,
	asked: Asked,
	body: SendBody,
	faults: FieldError[],
	options: SendOptions,
) {
	const { project, idempotency } = asked
	const wanted = await readSend(project.id, body, options, faults)
	const addresses = [...new Set(wanted.recipients.map(({ email }) => email))]
	if (isMainThread && (await isMuchData(acceptance.pool, project.id, addresses, body)))
		throw new LargeMails('The data of these contacts is large')
	for (let attempt = 1; ; attempt++) {
		const question = {
			templateId: body.template ?? null,
			domain: wanted.from ? domainOf(wanted.from.email) : null,
			emails: addresses,
			idCount: 1 + addresses.length + wanted.recipients.length,
		}
		const { billing } = options.features
		const context = await acceptance.contextFor(project.id, question, billing)
		if (body.template && !context.template) throw notFound('template', body.template)
		checkSender(wanted.from?.email ?? context.template!.from, context.verified)
		const sender = { project, publicUrl: options.publicUrl }
		const weight = wanted.recipients.length * (wanted.files.length > 0 ? 2 : 1)
		const { limit } = context
		refuseOver(limit, weight)
		const plan = await planSend(body, wanted, context, sender)
		const answer = answerOf(plan.mails)
		try {
			const taken = { projectId: project.id, weight, limit }
			await acceptWithinLimit(acceptance, taken, {
				projectId: project.id,
				contacts: plan.contacts.map(({ id, email, name, oldData, isChanged }) => ({
					id,
					email,
					name,
					isNew: oldData === null,
					isChanged,
				})),
				data: plan.stored,
				removedKeys: plan.removed,
				subscribed: body.subscribed ?? null,
				mails: plan.mails,
				requestId: plan.requestId,
				files: wanted.files,
				key: idempotency?.key ?? null,
				claimId: idempotency?.claimId ?? null,
				response: idempotency ? withoutAddresses(answer) : null,
				trace: tracer.current(),
			})
		} catch (error) {
			if (attempt < tries && isLostRace(error)) continue
			if (isClaimLost(error)) throw claimLost(asked)
			throw error
		}
		return answer
	}
}

/** Whether reading and checking these contacts' old and new data takes long. */
async function isMuchData(pool: Pool, projectId: string, addresses: string[], { data }: SendBody) {
	if (addresses.length <= fewContacts) return false
	const [stored] = await bytesOfContacts(pool, { projectId, emails: addresses })
	const given = data ? Buffer.byteLength(JSON.stringify(data)) : 0
	return stored!.bytes + addresses.length * given > mostDataOnLoop
}

/** The stored form of the answer: see db/idempotency-key.ts. */
const withoutAddresses = ({ success, data }: ReturnType<typeof answerOf>) => ({
	success,
	data: {
		emails: data.emails.map(({ contact, email }) => ({ contact: { id: contact.id }, email })),
		timestamp: data.timestamp,
	},
})

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
 * Between our read and our write another request created one of our new contacts, deleted a contact or the
 * template, or changed a contact's address. Reading again shows it.
 */
const racedFor = new Set([
	'emails_contact',
	'emails_template',
	'contacts_pkey',
	'contacts_project_id_id_unique',
	'contacts_project_id_email_unique',
])

const isLostRace = (error: unknown) => {
	const { code, constraint } = error as { code?: string; constraint?: string }
	// Or both wanted the same contacts in another order.
	return code === '40P01' || (constraint !== undefined && racedFor.has(constraint))
}
