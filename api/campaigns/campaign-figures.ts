import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { progressOf, statsOf } from '../../db/campaigns/campaign-counts.ts'
import { waitingOf, waitingReasons } from '../../db/campaigns/campaign-waiting.ts'
import { countRecipients, listRecipients } from '../../db/campaigns/campaign-recipients.ts'
import { findCampaign } from '../../db/campaigns/campaign-records.ts'
import { emailStatuses } from '../../db/emails/email.ts'
import { readOrScan } from '../../db/timed-reading.ts'
import { notFound, tooMuchToRead } from '../errors.ts'
import {
	about,
	Component,
	Cursor,
	cursorPage,
	decodeCursor,
	encodeCursor,
	Id,
	Nullable,
	PathId,
	Timestamp,
} from '../schemas.ts'
import { existing } from './campaigns.ts'

/** For finding the recipients of a status. */
const mostMs = 5000
const tooManyRecipients = () =>
	tooMuchToRead(
		'The recipients with this status take too long to find',
		'Try again in a moment, or list all recipients.',
	)

const Count = Type.Integer()
const NullableTime = Nullable(Timestamp)
const Rate = Type.Number({ description: 'Percent of sentCount' })

const Stats = Component('CampaignStats', {
	totalRecipients: Count,
	sentCount: Count,
	deliveredCount: Count,
	openedCount: Count,
	clickedCount: Count,
	bouncedCount: Count,
	complainedCount: Count,
	unsubscribedCount: Count,
	failedCount: Count,
	openRate: Rate,
	clickRate: Rate,
	bounceRate: Rate,
	deliveryRate: Rate,
})

const Progress = Component('CampaignProgress', {
	total: Count,
	pending: Count,
	sending: Count,
	uncertain: Count,
	sent: Count,
	failed: Count,
	skipped: Count,
	paused: Type.Boolean(),
	ratePerSecond: Type.Number(),
	etaSeconds: Nullable(Type.Integer()),
	waitingFor: Nullable(
		Type.Object({
			reason: Type.Enum([...waitingReasons], {
				description:
					'`paused`: by a person, or because of its template, its sender’s domain or a fault. `billing`: by a billing limit. `provider`: it is away, or has deferred the remaining mails. `rate`: by the send rate of the project.',
			}),
			message: Nullable(
				Type.String({
					description:
						'The provider’s answer. For a pause that nobody asked for: its cause, and what to do.',
				}),
			),
			until: NullableTime,
			mails: Count,
		}),
	),
})

const Recipient = Component('CampaignRecipient', {
	contactId: Nullable(Id),
	emailId: Nullable(Id),
	email: Type.String(),
	status: Type.Enum([...emailStatuses]),
	error: Nullable(Type.String()),
	sentAt: NullableTime,
	deliveredAt: NullableTime,
	openedAt: NullableTime,
	clickedAt: NullableTime,
	bouncedAt: NullableTime,
	complainedAt: NullableTime,
	unsubscribedAt: NullableTime,
})

const tags = ['campaigns']
const config = { auth: 'secret key or session' } as const
const Params = Type.Object({ id: PathId('campaign') })
const Position = Type.Tuple([Nullable(Id), Nullable(Id)])

/** The progress of a campaign and the outcomes of its mails. */
export const campaignFigures: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/campaigns/:id/stats',
		{
			config,
			schema: {
				tags,
				summary: 'Get the figures of a campaign',
				description: 'Each mail counts once, however often it was opened or clicked.',
				params: Params,
				response: { 200: Stats },
			},
		},
		async ({ project, params }) => {
			const [stats] = await statsOf(pool, { projectId: project.id, campaignId: params.id })
			if (!stats) throw notFound('campaign', params.id)
			const percent = (count: number) =>
				stats.sent === 0 ? 0 : Math.round((10_000 * count) / stats.sent) / 100
			return {
				totalRecipients: stats.totalRecipients,
				sentCount: stats.sent,
				deliveredCount: stats.delivered,
				openedCount: stats.opened,
				clickedCount: stats.clicked,
				bouncedCount: stats.bounced,
				complainedCount: stats.complained,
				unsubscribedCount: stats.unsubscribed,
				failedCount: stats.failed,
				openRate: percent(stats.opened),
				clickRate: percent(stats.clicked),
				bounceRate: percent(stats.bounced),
				deliveryRate: percent(stats.delivered),
			}
		},
	)

	app.get(
		'/campaigns/:id/progress',
		{
			config,
			schema: {
				tags,
				summary: 'Get the progress of a campaign',
				description:
					'The counts always add up to `total`. `waitingFor` says why mails wait and until when; it is null while they are being sent.',
				params: Params,
				response: { 200: Progress },
			},
		},
		async ({ project, params }) => {
			const [progress] = await progressOf(pool, { projectId: project.id, campaignId: params.id })
			if (!progress) throw notFound('campaign', params.id)
			const [waiting] = await waitingOf(pool, { projectId: project.id, campaignId: params.id })
			return { ...progress, waitingFor: waiting ?? null }
		},
	)

	app.get(
		'/campaigns/:id/recipients',
		{
			config,
			schema: {
				tags,
				summary: 'List the recipients of a campaign that has started',
				description:
					'`total` is counted for a second: of a status that too many have, only up to 10,000. Each recipient has the status of its mail, and the error if it was not sent. `emailId` is null until the mail is about to be sent.',
				params: Params,
				querystring: Type.Object({
					status: Type.Optional(
						about('Only recipients whose mail has this status.', Type.Enum([...emailStatuses])),
					),
					cursor: Cursor,
					limit: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
				}),
				response: { 200: cursorPage(Recipient) },
			},
		},
		async ({ project, params, query: { status = null, cursor, limit } }) => {
			existing(
				await findCampaign(pool, { projectId: project.id, campaignId: params.id }),
				params.id,
			)
			const size = Math.min(limit, 100)
			const wanted = { projectId: project.id, campaignId: params.id, status }
			const after = cursor === undefined ? undefined : decodeCursor(Position, cursor)
			const page = {
				...wanted,
				limit: size + 1,
				afterContactId: after?.[0] ?? null,
				afterEmailId: after?.[1] ?? null,
			}
			const rows = await readOrScan(pool, project.id, mostMs, (db) => listRecipients(db, page))
			if (!rows) throw tooManyRecipients()
			const total = after ? 0 : ((await countRecipients(pool, wanted)) ?? rows.length)
			const data = rows.slice(0, size)
			const last = data.at(-1)
			const hasMore = rows.length > size
			return {
				data,
				...(hasMore ? { cursor: encodeCursor([last!.place, last!.emailId]) } : {}),
				hasMore,
				total,
			}
		},
	)
}
