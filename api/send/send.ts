import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { meter } from '../../activities/telemetry/meter.ts'
import { sendContext } from '../../db/emails/acceptance.ts'
import { notFound } from '../errors.ts'
import { fieldErrors } from '../requests/field-errors.ts'
import { claimLost } from '../requests/idempotency.ts'
import type { Failure } from '../requests/unions.ts'
import { Id, success, Timestamp } from '../schemas.ts'
import { acceptWithinLimit, refuseOver } from './send-limit.ts'
import { planSend } from './send-mails.ts'
import { readSend, SendBody, type SendLimits } from './send-request.ts'
import { checkSender, domainOf } from './sender.ts'

const SendResult = Type.Object({
	emails: Type.Array(
		Type.Object({ contact: Type.Object({ id: Id, email: Type.String() }), email: Id }),
	),
	timestamp: Timestamp,
})

/** A JSON body holds the files in base64, and escapes. */
const bodyLimitBytes = 56 * 2 ** 20
const tries = 5

const suggestions = {
	to: 'Give an address, { "name", "email" }, or a list of up to 1,000 of these. Names are separate from addresses.',
	subject:
		'Give a subject and a body, or the id of a template that has them. A subject is one line of at most 998 characters.',
	body: 'Give a subject and a body, or the id of a template that has them.',
	template: 'Give the id of a template, or a subject and a body. GET /templates lists the ids.',
	from: 'Give an address on a verified domain, or { "name", "email" }. A template may supply it.',
	data: 'Give an object of at most 64 KB. Its names have 1 to 100 characters.',
	headers:
		'Give an object of header names and texts. Use to, from, subject and reply for what these set.',
	attachments:
		'Give each file as { "filename", "contentType", "content" }, the content in padded base64.',
}

export interface SendOptions extends SendLimits {
	pool: Pool
	publicUrl: string
	features: { billing: boolean }
}

export const send: FastifyPluginAsyncTypebox<SendOptions> = async (app, options) => {
	app.post(
		'/v1/send',
		{
			bodyLimit: bodyLimitBytes,
			// Told together with what the handler finds.
			attachValidation: true,
			config: {
				auth: 'secret key',
				idempotent: true,
				nullIsAbsent: true,
				sends: true,
				errors: [404],
				suggestions,
			},
			schema: {
				tags: ['public'],
				summary: 'Send a mail to one or more recipients',
				description:
					'Accepted mail is delivered by a durable workflow; follow it at GET /emails/{id}. Contacts are created or updated on the way.',
				body: SendBody,
				response: { 200: success(SendResult) },
			},
		},
		async (request) => {
			const { body, project, idempotency, validationError } = request
			const faults = fieldErrors((validationError?.validation ?? []) as Failure[])
			const wanted = readSend(body, options, faults)
			const addresses = [...new Set(wanted.recipients.map(({ email }) => email))]
			for (let attempt = 1; ; attempt++) {
				const [context] = await sendContext(options.pool, [
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
					await acceptWithinLimit(options.pool, taken, [
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
						idempotency ? JSON.stringify(answer) : null,
					])
				} catch (error) {
					if (attempt < tries && isLostRace(error)) continue
					if (isClaimLost(error)) throw claimLost(request)
					throw error
				}
				app.relay.wake()
				meter.accepted('/v1/send', plan.mails.length)
				return answer
			}
		},
	)
}

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
