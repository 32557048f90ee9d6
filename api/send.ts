import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { acceptSend, sendContext } from '../db/acceptance.ts'
import { ApiError, notFound } from './errors.ts'
import { claimLost } from './idempotency.ts'
import { Id, success, Timestamp } from './schemas.ts'
import { planSend } from './send-mails.ts'
import { readSend, SendBody, type SendLimits } from './send-request.ts'

const SendResult = Type.Object({
	emails: Type.Array(
		Type.Object({ contact: Type.Object({ id: Id, email: Type.String() }), email: Id }),
	),
	timestamp: Timestamp,
})

/** A JSON body holds the files in base64, and escapes. */
const bodyLimitBytes = 56 * 2 ** 20
const tries = 5

export interface SendOptions extends SendLimits {
	pool: Pool
	publicUrl: string
}

export const send: FastifyPluginAsyncTypebox<SendOptions> = async (app, options) => {
	app.post(
		'/v1/send',
		{
			bodyLimit: bodyLimitBytes,
			config: { auth: 'secret key', idempotent: true, errors: [404] },
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
			const { body, project, idempotency } = request
			const wanted = readSend(body, options)
			const addresses = [...new Set(wanted.recipients.map(({ email }) => email))]
			for (let attempt = 1; ; attempt++) {
				const [context] = await sendContext(options.pool, [
					project.id,
					body.template ?? null,
					wanted.from ? domainOf(wanted.from.email) : null,
					addresses,
					1 + addresses.length + wanted.recipients.length,
				])
				if (body.template && !context!.template) throw notFound('template', body.template)
				checkSender(wanted.from?.email ?? context!.template!.from, context!.verified)
				const plan = planSend(body, wanted, context!, { project, publicUrl: options.publicUrl })
				const answer = {
					success: true as const,
					data: {
						emails: plan.mails.map(({ id, contactId, to }) => ({
							contact: { id: contactId, email: to },
							email: id,
						})),
						timestamp: new Date(),
					},
				}
				try {
					await acceptSend(options.pool, [
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
				return answer
			}
		},
	)
}

/** Another request wrote one of our new contacts first, or wanted the same ones in another order. */
const isLostRace = (error: unknown) => {
	const { code, constraint } = error as { code?: string; constraint?: string }
	return code === '40P01' || (code === '23503' && constraint === 'emails_contact')
}

/** The division by zero in the statement: it found no claim of ours to complete. */
const isClaimLost = (error: unknown) => (error as { code?: string }).code === '22012'

const domainOf = (email: string) => email.slice(email.lastIndexOf('@') + 1)

function checkSender(from: string, verified: boolean | null) {
	if (verified) return
	const domain = domainOf(from)
	const why = verified === null ? 'is not a domain of this project' : 'is not verified yet'
	throw new ApiError(403, 'INTERNAL_SERVER_ERROR', `The sender's domain ${domain} ${why}`, {
		details: { domain },
		suggestion:
			verified === null
				? 'Add it with POST /domains and verify it, or send from a verified domain.'
				: 'Set the DNS records that POST /domains returned, then call GET /domains/{id}/verify.',
	})
}
