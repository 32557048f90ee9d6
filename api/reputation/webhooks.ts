import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { receiveMail } from '../../db/emails/inbound.ts'
import { settleByEvent } from '../../db/reputation/evidence.ts'
import { ApiError } from '../errors.ts'
import { keepBytes } from '../requests/signed-body.ts'
import { readReceivedMail, readReportedMail } from './resend-event.ts'
import { verifyWebhook } from './webhook-signature.ts'
import { Component } from '../schemas.ts'

export const Received = Component('ReceivedEvent', {
	received: Type.Literal(true),
	duplicate: Type.Boolean({ description: 'The event was received before; nothing was done' }),
})

interface Options {
	pool: Pool
	resendWebhookSecret: string | undefined
	features: { billing: boolean }
}

/** Events from Resend. Each is one transaction, and is answered after the commit. */
export const webhooks: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
	const { pool, resendWebhookSecret: secret, features } = options
	keepBytes(app)

	app.post(
		'/webhooks/resend',
		{
			config: { auth: 'signature', errors: [413, 415], takes: 'application/json' },
			schema: {
				tags: ['webhooks'],
				summary: 'Receive an event from Resend',
				description:
					'Resend calls it. The signature covers the raw body, and an event that was received before is ignored.',
				response: { 200: Received },
			},
		},
		async ({ headers, body }) => {
			if (!secret) throw notSetUp()
			const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
			const id = `resend/${verifyWebhook(secret, headers, bytes)}`
			const isNew = await take(id, parsed(bytes))
			// A bounce may have suspended its project.
			if (isNew) app.relay.wake()
			return { received: true as const, duplicate: !isNew }
		},
	)

	async function take(id: string, event: object) {
		const reported = readReportedMail(event)
		if (reported) {
			const { projectId, emailId, evidence } = reported
			const values = {
				eventId: id,
				projectId,
				emailId,
				providerMessageId: evidence.providerMessageId,
				evidence,
			}
			const [settled] = await settleByEvent(pool, values)
			return settled!.isNew
		}
		const mail = readReceivedMail(event)
		if (!mail) return true
		const [received] = await receiveMail(pool, {
			eventId: id,
			mail,
			hasLimits: features.billing,
		})
		return received!.isNew
	}
}

function parsed(bytes: Buffer): object {
	try {
		const event: unknown = JSON.parse(bytes.toString())
		if (typeof event === 'object' && event !== null) return event
	} catch {
		// The answer is the same as for JSON that is no object.
	}
	throw new ApiError(400, 'VALIDATION_ERROR', 'The body is not a JSON object')
}

const notSetUp = () =>
	new ApiError(
		401,
		'UNAUTHORIZED',
		'No Resend webhook secret is configured, so events can’t be verified',
		{
			suggestion: 'Set RESEND_WEBHOOK_SECRET to the signing secret of the webhook (whsec_…).',
		},
	)
