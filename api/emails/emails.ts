import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import { Attempt, attemptOutcomes } from '../../db/emails/attempt.ts'
import {
	Email as EmailRow,
	emailStatuses,
	type MailCopy,
	rareStatuses,
	sourceTypes,
} from '../../db/emails/email.ts'
import { mailTotal } from '../../db/emails/mail-total.ts'
import {
	cancelScheduled,
	countScheduled,
	reschedule,
	scheduledMails,
} from '../../db/emails/scheduling.ts'
import { resolveAsRetry, resolveAsSent } from '../../db/emails/resolution.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import {
	about,
	Body,
	Component,
	Cursor,
	cursorPage,
	decodeCursor,
	encodeCursor,
	Extended,
	Id,
	Nullable,
	PathId,
	Timestamp,
} from '../schemas.ts'
import { timeProblems } from '../send/send-delivery.ts'
import { withSenders } from './campaign-senders.ts'
import { bodiesOf, bodyOf } from './mail-bodies.ts'

const NullableTime = Nullable(Timestamp)
const NullableText = Nullable(Type.String())

const Copy = Component('EmailCopy', {
	email: Type.String(),
	name: NullableText,
	error: Nullable(
		Type.String({
			description: 'Why it did not get the mail: a suppression, or the answer of its server.',
		}),
	),
})

const Email = Component('Email', {
	id: Id,
	projectId: Id,
	contactId: Nullable(Id),
	to: Type.String(),
	toName: NullableText,
	cc: Type.Array(Copy, { description: 'Further readers whom the readers see.' }),
	bcc: Type.Array(Copy, { description: 'Further readers whom the readers do not see.' }),
	from: Type.String(),
	fromName: NullableText,
	replyTo: NullableText,
	subject: Type.String(),
	body: NullableText,
	tags: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
	headers: Type.Record(Type.String(), Type.String()),
	attachments: Type.Array(
		Type.Object({ filename: Type.String(), contentType: Type.String(), size: Type.Integer() }),
	),
	messageId: NullableText,
	sourceType: Type.Enum([...sourceTypes]),
	templateId: Nullable(Id),
	campaignId: Nullable(Id),
	workflowExecutionId: Nullable(Id),
	workflowStepExecutionId: Nullable(Id),
	status: Type.Enum([...emailStatuses]),
	scheduledFor: Nullable(about('When it is or was to be sent, if not at once.', Timestamp)),
	possibleRepeat: Type.Boolean({
		description: 'Sent again although an earlier attempt may have arrived',
	}),
	error: NullableText,
	sentAt: NullableTime,
	deliveredAt: NullableTime,
	openedAt: NullableTime,
	clickedAt: NullableTime,
	bouncedAt: NullableTime,
	complainedAt: NullableTime,
	opens: Type.Integer(),
	clicks: Type.Integer(),
	prefetches: Type.Integer({
		description:
			'Opens and clicks by machines ahead of the reader; not included in the other counts',
	}),
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

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
})

type ClosedAttempt = Type.Static<typeof EmailWithAttempts>['attempts'][number]

const tags = ['emails']
const Filter = Type.Object({
	contactId: Type.Optional(about('Only mails to this contact.', Id)),
	status: Type.Optional(about('Only mails with this status.', Type.Enum([...emailStatuses]))),
	sourceType: Type.Optional(about('Only mails from this source.', Type.Enum([...sourceTypes]))),
	campaignId: Type.Optional(about('Only mails of this campaign.', Id)),
})
type Filter = Type.Static<typeof Filter>
type OrNull<T> = { [Name in keyof T]: T[Name] | null }
const Params = Type.Object({ id: PathId('email') })
const RequiredDelivery = Type.Object(
	{
		at: about(
			'The new time, with a time zone, at most 30 days ahead. A time in the past means now.',
			Type.String({ format: 'date-time' }),
		),
	},
	{ additionalProperties: false },
)
const Position = Type.Tuple([Id])

export const emails: FastifyPluginAsyncTypebox<{ pool: Pool; publicUrl: string }> = async (
	app,
	{ pool, publicUrl },
) => {
	app.get(
		'/emails',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags,
				summary: 'List mails, newest first',
				description: 'A page ends early if its bodies exceed 16 MB or take long to render.',
				querystring: Type.Object({
					...Filter.properties,
					cursor: Cursor,
					limit: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
				}),
				response: { 200: cursorPage(Email) },
			},
		},
		async ({ em, project, query: { cursor, limit, ...filter } }) => {
			const where = { ...foundBy(filter), projectId: project.id }
			const size = Math.min(limit, 100)
			const [before] = cursor === undefined ? [] : decodeCursor(Position, cursor)
			const scheduled =
				filter.status === 'SCHEDULED'
					? await scheduledPage(project.id, filter, { before, limit: size + 1 })
					: null
			const total = async () =>
				scheduled
					? scheduled.total()
					: Object.keys(filter).length > 0
						? em.count(EmailRow, where)
						: (await mailTotal(pool, { projectId: project.id }))[0]!.total
			const rows = await em.find(
				EmailRow,
				{
					...where,
					...(before === undefined ? {} : { id: { $lt: before } }),
					...(scheduled && { id: { $in: scheduled.ids } }),
				},
				{ exclude: ['body', 'text'], orderBy: { id: 'desc' }, limit: size + 1 },
			)
			const ids = rows.slice(0, size).map(({ id }) => id)
			const bodies = await bodiesOf({ pool, publicUrl, projectId: project.id }, ids)
			const shown = rows.filter(({ id }) => bodies.has(id))
			const data = (await withSenders(em, project.id, shown)).map((row) =>
				viewOf(row, bodies.get(row.id) ?? null),
			)
			const hasMore = data.length > 0 && rows.length > data.length
			return {
				data,
				...(hasMore ? { cursor: encodeCursor([data.at(-1)!.id]) } : {}),
				hasMore,
				total: cursor === undefined ? await total() : 0,
			}
		},
	)

	app.get(
		'/emails/:id',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags,
				summary: 'Get a mail with its attempts',
				description:
					'Every attempt to deliver it is listed, with the answer of the provider. Start here to explain why a mail arrived or did not.',
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
				...(await wholeOf(em, email)),
				text: email.text ?? null,
				attempts: [...(closed as ClosedAttempt[]), ...ownAttempt(email, closed.length)],
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
								'sent: the mail counts as sent. retry: it is sent again, at the risk of a second copy.',
						}),
					},
				),
				response: { 200: Email },
			},
		},
		async ({ em, project, params, body }) => {
			const where = { projectId: project.id, id: params.id }
			const resolve = body.as === 'sent' ? resolveAsSent : resolveAsRetry
			const [resolved] = await resolve(pool, { projectId: project.id, emailId: params.id })
			const email = await em.findOne(EmailRow, where)
			if (!email) throw notFound('email', params.id)
			if (!resolved)
				throw new ApiError(409, 'CONFLICT', `This mail is ${email.status}, not UNCERTAIN`, {
					details: { status: email.status },
					suggestion: 'Only a mail in doubt can be resolved.',
				})
			app.relay.wake()
			return wholeOf(em, email)
		},
	)

	app.patch(
		'/emails/:id',
		{
			config: { auth: 'secret key or session', errors: [409] },
			schema: {
				tags,
				summary: 'Move a scheduled mail to another time',
				description:
					'Only a mail that is SCHEDULED can be moved. Either it is moved, or it is sent at its old time and the answer is 409.',
				params: Params,
				body: Body({ delivery: { at: '2030-01-31T09:00:00Z' } }, { delivery: RequiredDelivery }),
				response: { 200: Email },
			},
		},
		async ({ em, project, params, body: { delivery } }) => {
			const problems = timeProblems(delivery.at)
			if (problems.length > 0) throw invalid(...problems)
			const which = { projectId: project.id, emailId: params.id }
			const [moved] = await reschedule(pool, { ...which, at: delivery.at })
			const email = await em.findOne(EmailRow, { projectId: project.id, id: params.id })
			if (!email) throw notFound('email', params.id)
			if (!moved) throw notScheduled(email)
			return wholeOf(em, email)
		},
	)

	app.post(
		'/emails/:id/cancel',
		{
			config: { auth: 'secret key or session', errors: [409] },
			schema: {
				tags,
				summary: 'Cancel a scheduled mail',
				description:
					'Only a mail that is SCHEDULED can be cancelled. Either it is cancelled, or it is sent and the answer is 409.',
				params: Params,
				response: { 200: Email },
			},
		},
		async ({ em, project, params }) => {
			const which = { projectId: project.id, emailId: params.id }
			const [cancelled] = await cancelScheduled(pool, which)
			const email = await em.findOne(EmailRow, { projectId: project.id, id: params.id })
			if (!email) throw notFound('email', params.id)
			if (!cancelled) throw notScheduled(email)
			return wholeOf(em, email)
		},
	)

	/** Scheduled mails are found among each other, not among all mails. */
	async function scheduledPage(
		projectId: string,
		{ contactId = null, sourceType = null, campaignId = null }: OrNull<Filter>,
		{ before = null, limit }: { before: string | null | undefined; limit: number },
	) {
		const wanted = { projectId, contactId, sourceType, campaignId }
		const found = await scheduledMails(pool, { ...wanted, before, limit })
		return {
			ids: found.map(({ id }) => id),
			total: async () => (await countScheduled(pool, wanted))[0]!.total,
		}
	}

	async function wholeOf(em: EntityManager, email: EmailRow) {
		const from = { pool, publicUrl, projectId: email.projectId }
		const [whole] = await withSenders(em, email.projectId, [email])
		return viewOf(whole!, await bodyOf(from, email))
	}
}

const notScheduled = ({ status }: EmailRow) =>
	new ApiError(409, 'CONFLICT', `This mail is ${status}, not SCHEDULED`, {
		details: { status },
		suggestion: 'Only a mail that waits for its time can be moved or cancelled.',
	})

/** The few mails of a rare status are found without reading others. */
function foundBy({ status, ...filter }: Filter) {
	if (status === undefined) return filter
	return rareStatuses.some((rare) => rare === status)
		? { ...filter, rareStatus: status }
		: { ...filter, status }
}

function viewOf(
	email: Omit<EmailRow, symbol | 'body' | 'text' | 'rareStatus'> & { from: string },
	body: string | null,
) {
	const view = Object.assign({}, email, {
		body,
		cc: copiesOf(email, 'cc'),
		bcc: copiesOf(email, 'bcc'),
		headers: email.headers ?? {},
		tags: email.tags ?? [],
		attachments: email.attachments ?? [],
		messageId:
			email.sourceType === 'INBOUND'
				? (email.headers?.['Message-ID'] ?? null) // its sender's, if it had one
				: `<${email.id}@${email.from.slice(email.from.lastIndexOf('@') + 1)}>`,
		error: email.error ?? email.renderFault,
		opens: email.opens ?? 0,
		clicks: email.clicks ?? 0,
		prefetches: email.prefetches ?? 0,
		updatedAt: email.updatedAt ?? email.sentAt ?? email.createdAt,
	})
	// A row that was read has null where the entity's type also allows undefined.
	return view as unknown as Type.Static<typeof Email>
}

const copiesOf = ({ copies }: Pick<EmailRow, 'copies'>, kind: MailCopy['kind']) =>
	(copies ?? []).flatMap(({ email, name, error, ...copy }) =>
		copy.kind === kind ? { email, name, error } : [],
	)

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
