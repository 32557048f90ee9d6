import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { Attempt, attemptOutcomes } from '../../db/emails/attempt.ts'
import { engagementsOfMail } from '../../db/emails/composed-mail.ts'
import { Email as EmailRow } from '../../db/emails/email.ts'
import { resolveAsRetry, resolveAsSent } from '../../db/emails/resolution.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { ApiError, notFound } from '../errors.ts'
import { requireSender } from '../send/sender.ts'
import { about, Body, Extended, Nullable, PathId, Timestamp } from '../schemas.ts'
import { Email, type EmailRoutes, NullableText, wholeOf } from './email-view.ts'

const EmailWithAttempts = Extended('EmailWithAttempts', [Email], {
	text: Nullable(
		Type.String({ description: 'Its own text part. null: it is made from the body.' }),
	),
	attempts: Type.Array(
		Type.Object({
			at: Timestamp,
			outcome: Type.Enum([...attemptOutcomes, 'OPEN']),
			provider: NullableText,
			providerMessageId: NullableText,
			error: NullableText,
		}),
	),
	engagements: Type.Array(
		Type.Object({
			type: Type.Enum(['delivery', 'open', 'click', 'bounce', 'complaint', 'unsubscribe']),
			at: Timestamp,
			link: about('The link that was clicked.', NullableText),
		}),
		{
			description:
				'What happened after it left, the first of it first, at most 100. Opens and clicks by machines are left out.',
		},
	),
})
type Engagement = Type.Static<typeof EmailWithAttempts>['engagements'][number]

type ClosedAttempt = Type.Static<typeof EmailWithAttempts>['attempts'][number]

const tags = ['emails']
const Params = Type.Object({ id: PathId('email') })

export const emails: FastifyPluginAsyncTypebox<EmailRoutes> = async (app, options) => {
	const { pool } = options

	app.get(
		'/emails/:id',
		{
			config: { auth: 'secret key or session', neverKept: true },
			schema: {
				tags,
				summary: 'Get a mail with its attempts',
				description:
					'Every attempt to deliver it is listed with the answer of the provider, and so is what its reader did. Start here to explain why a mail arrived or did not.',
				params: Params,
				response: { 200: EmailWithAttempts },
			},
		},
		async ({ em, project, params }) => {
			const where = { projectId: project.id, id: params.id }
			const email = await em.findOne(EmailRow, where)
			if (!email) throw notFound('email', params.id)
			const closed = await em.find(
				Attempt,
				{ projectId: project.id, emailId: params.id },
				{ orderBy: { attempt: 'asc' } },
			)
			return {
				...(await wholeOf(options, email)),
				text: email.text ?? null,
				attempts: [...(closed as ClosedAttempt[]), ...ownAttempt(email, closed.length)],
				engagements: await engagementsWith(email),
			}
		},
	)

	app.post(
		'/emails/:id/resolve',
		{
			config: { auth: 'secret key or session', errors: [409] },
			schema: {
				tags,
				summary: 'Settle a mail that is UNCERTAIN',
				description:
					'`sent` counts it as sent; `retry` sends it again, at the risk of a second copy.',
				params: Params,
				body: Body(
					{ as: 'sent' },
					{
						as: Type.Enum(['sent', 'retry'], {
							description:
								'sent: the mail counts as sent. retry: it is sent again, at the risk of a second copy; a mail of a running campaign by the campaign, once that is not paused.',
						}),
					},
				),
				response: { 200: Email },
			},
		},
		async ({ em, project, params, body }) => {
			const where = { projectId: project.id, id: params.id }
			const key = { projectId: project.id, emailId: params.id }
			const [resolved] =
				body.as === 'sent'
					? await resolveAsSent(pool, key)
					: await resolveAsRetry(pool, { ...key, taskQueue: taskQueues.core })
			const email = await em.findOne(EmailRow, where)
			if (!email) throw notFound('email', params.id)
			const whole = await wholeOf(options, email)
			if (resolved) {
				app.relay.wake()
				return whole
			}
			if (email.status === 'UNCERTAIN') await requireSender(em, project.id, whole.from)
			throw new ApiError(409, 'CONFLICT', `This mail is ${email.status}, not UNCERTAIN`, {
				details: { status: email.status },
				suggestion: 'Only a mail in doubt can be resolved.',
			})
		},
	)

	async function engagementsWith({
		projectId,
		id,
		contactId,
		createdAt,
		unsubscribedAt,
	}: EmailRow) {
		const which = { projectId, emailId: id, contactId: contactId ?? null, since: createdAt }
		const found = (await engagementsOfMail(pool, which)) as Engagement[]
		if (!unsubscribedAt) return found
		const end: Engagement = { type: 'unsubscribe', at: unsubscribedAt, link: null }
		return [...found, end].toSorted((one, other) => one.at.getTime() - other.at.getTime())
	}
}

/** The current attempt is in the mail's own row, and so is a campaign mail's successful first attempt. */
const ownAttempt = (email: EmailRow, closed: number) =>
	email.status === 'SENDING' || (closed < email.attempt && email.sentAt)
		? [
				{
					at: email.attemptStartedAt ?? email.createdAt,
					outcome: email.status === 'SENDING' ? ('OPEN' as const) : ('SENT' as const),
					provider: email.provider ?? null,
					providerMessageId: email.status === 'SENDING' ? null : (email.providerMessageId ?? null),
					error: null,
				},
			]
		: []
