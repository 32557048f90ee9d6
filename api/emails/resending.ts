import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { isEmail } from '../../db/address.ts'
import { limitUnderLock } from '../../db/billing/usage-standing.ts'
import { campaignMails } from '../../db/campaigns/campaign-mail.ts'
import { mailToRepeat, repeatMail } from '../../db/emails/resending.ts'
import { completeClaim } from '../../db/idempotency-key.ts'
import { isMissingReference } from '../../db/reference.ts'
import type { RowOf } from '../../db/sql-types.ts'
import { transactional } from '../../db/transaction.ts'
import { completed } from '../../mail/campaign/completed-mail.ts'
import { meter } from '../../outside/telemetry/meter.ts'
import { ApiError, notFound } from '../errors.ts'
import { claimLost } from '../requests/idempotency.ts'
import { Component, Id, PathId } from '../schemas.ts'
import { refuseOver } from '../send/send-limit.ts'
import { requireSender } from '../send/sender.ts'
import { contentGone } from './composed-mail.ts'
import type { EmailRoutes } from './email-view.ts'

const Params = Type.Object({ id: PathId('email') })
const Resent = Component('ResentEmail', { id: Id, status: Type.Literal('PENDING') })

interface Options extends EmailRoutes {
	emailProvider: string
	features: { billing: boolean }
}

type Original = RowOf<typeof mailToRepeat>

/** Mails that are sent again on request. */
export const resending: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
	const { publicUrl, emailProvider, features } = options

	app.post(
		'/emails/:id/resend',
		{
			config: {
				auth: 'secret key or session',
				idempotent: true,
				sends: true,
				errors: [403, 409],
			},
			schema: {
				tags: ['emails'],
				summary: 'Send a mail again',
				description:
					'Creates a new mail to the same person with the same content and files, but without its copies. A mail of a campaign is rendered with the current data of its contact. Refused with 409 while the mail is under way, once its content has been deleted, and if its address is suppressed or a consent is missing.',
				params: Params,
				response: { 202: Resent },
			},
		},
		async (request, reply) => {
			const { params } = request
			const answer = await transactional(request.em, (em, db) =>
				repeat(em, db, request, params.id),
			).catch((error: unknown) => {
				throw isMissingReference(error) ? contactGone() : error
			})
			app.relay.wake()
			meter.accepted('/emails/:id/resend', 1)
			return reply.code(202).send(answer)
		},
	)

	/** With the transaction's own connection alone: a second one would be waited for while all hold their first. */
	async function repeat(
		em: EntityManager,
		db: PoolClient,
		request: FastifyRequest,
		emailId: string,
	) {
		const { project, idempotency } = request
		const which = { projectId: project.id, emailId }
		const [original] = await mailToRepeat(db, { ...which, provider: emailProvider })
		if (!original) throw notFound('email', emailId)
		refuseByState(original)
		const content = await contentOf(db, original)
		await requireSender(em, project.id, original.from)
		if (features.billing)
			refuseOver(await limitUnderLock(db, project.id), original.has_attachments ? 2 : 1)
		const [mail] = await repeatMail(db, { ...which, mail: { ...content, to: original.address } })
		const answer = { id: mail!.id, status: 'PENDING' as const }
		if (!idempotency) return answer
		const claim = { projectId: project.id, ...idempotency, statusCode: 202, response: answer }
		if ((await completeClaim(db, claim)).length === 0) throw claimLost(request)
		return answer
	}

	async function contentOf(db: PoolClient, { has_body, address, ...mail }: Original) {
		const [source] = has_body
			? []
			: await campaignMails(db, { projectId: mail.project_id, emailIds: [mail.id] })
		if (!has_body && !source) throw contentGone()
		const own = { ...mail, to: address, body: '' }
		const whole = source ? await completed(own, source, publicUrl) : own
		return {
			from: whole.from,
			fromName: whole.from_name,
			replyTo: whole.reply_to,
			subject: whole.subject,
			body: source ? whole.body : null,
			contentLanguage: whole.content_language,
			language: whole.language,
			postalAddress: whole.postal_address,
			type: whole.type,
		}
	}
}

function refuseByState({ status, source_type, is_unsettled, address, barred }: Original) {
	if (source_type === 'INBOUND')
		throw new ApiError(409, 'CONFLICT', 'This mail was received, not sent')
	if (is_unsettled)
		throw new ApiError(409, 'CONFLICT', `This mail is ${status}: it may still be sent`, {
			details: { status },
			suggestion:
				status === 'UNCERTAIN'
					? 'Settle it with POST /emails/{id}/resolve; `retry` sends it again.'
					: 'Wait until it is sent, or cancel it if it is scheduled.',
		})
	if (!isEmail(address))
		throw new ApiError(409, 'CONFLICT', 'This mail has no address that can get mail', {
			details: { to: address },
		})
	if (barred !== null)
		throw new ApiError(409, 'CONFLICT', barred, {
			suggestion: 'This mail can be sent again once that has changed.',
		})
}

const contactGone = () =>
	new ApiError(409, 'CONFLICT', 'The contact of this mail was deleted meanwhile')
