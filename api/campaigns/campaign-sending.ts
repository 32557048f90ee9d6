import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool, PoolClient } from 'pg'
import { limitOf } from '../../db/billing/usage-standing.ts'
import { cancel, pause, resume, schedule, sendNow } from '../../db/campaigns/campaign-actions.ts'
import { freezeAudience } from '../../db/campaigns/campaign-audience.ts'
import {
	type CampaignRecord,
	findCampaign,
	lockCampaign,
} from '../../db/campaigns/campaign-records.ts'
import { campaignStatuses } from '../../db/campaigns/campaign.ts'
import { countInTurn } from '../../db/timed-reading.ts'
import { transaction } from '../../db/transaction.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { ApiError } from '../errors.ts'
import { refuseChanged } from '../requests/read-version.ts'
import { about, Component, Id, Nullable, PathId, Timestamp } from '../schemas.ts'
import { refuseOver } from '../send/send-limit.ts'
import { requireSender } from '../send/sender.ts'
import { recipientsOf } from './campaign-content.ts'
import { Campaign, existing, viewFor, wrongState } from './campaigns.ts'

const Sent = Component('SentCampaign', {
	success: Type.Literal(true),
	message: Type.String(),
	data: Type.Object({
		id: Id,
		name: Type.String(),
		status: Type.Enum([...campaignStatuses]),
		scheduledFor: Nullable(Timestamp),
		warnings: Type.Array(Type.String()),
	}),
})

const tags = ['campaigns']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('campaign') })
/** Postgres has no earlier date; any time in the past is due. */
const earliestMs = Date.UTC(-4712, 0, 1)

interface Options {
	pool: Pool
	features: { billing: boolean }
}

/** Routes that start and stop a campaign. */
export const campaignSending: FastifyPluginAsyncTypebox<Options> = async (
	app,
	{ pool, features },
) => {
	app.post(
		'/campaigns/:id/send',
		{
			config: { auth, sends: true, errors: [400, 403, 404, 409], ifMatch: true },
			schema: {
				tags,
				summary: 'Send a campaign now or at a time',
				description:
					'Without a time, the campaign is SENDING at once. A SCHEDULED campaign is rescheduled. A campaign without recipients at its time ends as SENT. After the start, editing a segment no longer changes the audience. Contacts and segment members are read when their mail is sent. With the header `If-Match: "<updatedAt>"`, a campaign that has changed since is not sent (409).',
				params: Type.Object({ id: about('The id of the campaign.', Id) }),
				// With a misspelt time it would be sent to all recipients at once.
				body: Type.Object(
					{
						scheduledFor: Type.Optional(
							Type.Union([Type.String(), Type.Null()], {
								description:
									'Any text that JavaScript can parse as a date. A time in the past means now',
							}),
						),
					},
					{ additionalProperties: false, examples: [{ scheduledFor: '2030-01-31T09:00:00Z' }] },
				),
				response: { 200: Sent },
			},
		},
		async (request) => {
			const { em, project, params, body } = request
			const time = timeOf(body.scheduledFor)
			const key = { projectId: project.id, campaignId: params.id }
			const { from } = existing(await findCampaign(pool, key), params.id)
			await requireSender(em, project.id, from)
			const start = async (db: PoolClient) => {
				const campaign = existing(await lockCampaign(db, key), params.id)
				if (campaign.status !== 'DRAFT' && campaign.status !== 'SCHEDULED')
					throw wrongState(campaign, 'sent', insteadOfSending(campaign))
				refuseChanged(request, 'campaign', campaign)
				const recipients = await recipientsOf(db, project.id, campaign)
				if (recipients === 0 && !time) throw noRecipients()
				const values = { ...key, recipients, taskQueue: taskQueues.core }
				if (time) await schedule(db, { ...values, scheduledFor: time })
				else {
					await sendNow(db, values)
					await freezeAudience(db, { projectId: project.id, campaignId: params.id })
				}
				return existing(await findCampaign(db, key), params.id)
			}
			const { id, name, status, scheduledFor, type } = await countInTurn(project.id, (limit) =>
				transaction(pool, start, limit),
			)
			app.relay.wake()
			const message = scheduledFor
				? `The campaign is scheduled for ${scheduledFor.toISOString()}`
				: 'The campaign is being sent'
			const warnings = type === 'MARKETING' && !project.postalAddress ? [noPostalAddress] : []
			return { success: true as const, message, data: { id, name, status, scheduledFor, warnings } }
		},
	)

	move('cancel', cancel, {
		summary: 'Cancel a campaign',
		description:
			'Mail that has not been handed over yet is not sent. Mail that has left stays sent.',
		suggestion: 'Only a SCHEDULED or SENDING campaign can be cancelled.',
	})
	move('pause', (db, given) => pause(db, { ...given, reason: 'OWNER' }), {
		summary: 'Pause a campaign',
		description:
			'After at most two seconds, no more mails are handed over. A slow provider may still send those that it was given.',
		suggestion: 'Only a SENDING campaign that is not paused can be paused.',
	})
	const hasLimits = features.billing
	move('resume', (db, given) => resume(db, { ...given, hasLimits }), {
		summary: 'Resume a paused campaign',
		description:
			'It continues where it was paused. Refused with 429 while a limit of this month is reached.',
		suggestion: 'Only a paused campaign can be resumed.',
	})

	function move(
		action: 'cancel' | 'pause' | 'resume',
		change: typeof cancel,
		{ suggestion, ...words }: { summary: string; description: string; suggestion: string },
	) {
		app.post(
			`/campaigns/:id/${action}`,
			{
				config: { auth, errors: [400] },
				schema: { tags, ...words, params: Params, response: { 200: Campaign } },
			},
			async ({ em, project, params }) => {
				const key = { projectId: project.id, campaignId: params.id }
				const [moved] = await change(pool, { ...key, taskQueue: taskQueues.core })
				const campaign = existing(await findCampaign(pool, key), params.id)
				if (!moved && action === 'resume' && campaign.pausedAt) {
					await requireSender(em, project.id, campaign.from)
					const category = 'campaigns'
					if (hasLimits)
						refuseOver((await limitOf(pool, { projectId: project.id, category }))[0]!.limit, 1)
				}
				if (!moved) throw wrongState(campaign, done[action], suggestion)
				app.relay.wake()
				return viewFor(project)(campaign)
			},
		)
	}
}

function insteadOfSending({ status, pausedAt }: CampaignRecord) {
	if (status !== 'SENDING') return 'Duplicate it, and send the copy.'
	return pausedAt
		? 'Resume it with POST /campaigns/{id}/resume.'
		: 'It is on its way. A copy would go to all its recipients once more.'
}

const done = { cancel: 'cancelled', pause: 'paused', resume: 'resumed' }

function timeOf(given: string | null | undefined) {
	if (given === undefined || given === null) return null
	const ms = new Date(given).getTime()
	if (Number.isNaN(ms))
		throw new ApiError(400, 'BAD_REQUEST', 'scheduledFor is not a date and time', {
			errors: [
				{
					field: 'scheduledFor',
					message: 'is not a date and time',
					code: 'invalid_string',
					received: given.slice(0, 100),
				},
			],
			suggestion: 'Write it as 2026-01-31T12:00:00Z, or leave it out to send at once.',
		})
	return new Date(Math.max(ms, earliestMs))
}

const noPostalAddress =
	'This project has no postal address. Many countries require one in marketing mail. Set it with PATCH /users/@me/projects/{id}.'

const noRecipients = () =>
	new ApiError(400, 'BAD_REQUEST', 'This campaign has no recipients', {
		suggestion: 'Unsubscribed contacts and suppressed addresses don’t count.',
	})
