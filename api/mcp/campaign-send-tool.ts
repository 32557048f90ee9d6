import Type from 'typebox'
import { type CampaignRecord, findCampaign } from '../../db/campaigns/campaign-records.ts'
import { segmentsReached } from '../../db/conditions/condition-segments.ts'
import { type Condition, membersOf } from '../../db/conditions/condition.ts'
import { existing } from '../campaigns/campaigns.ts'
import { tooMuchToRead } from '../errors.ts'
import { requireSender } from '../send/sender.ts'
import { hasStarted, reachOf } from './audience.ts'
import { briefData, briefText, counted, only } from './brief.ts'
import { campaignId } from './campaign-tools.ts'
import { ConfirmToken } from './confirmations.ts'
import { path } from './route-calls.ts'
import { defineTool, mailing, type ToolContext } from './tool.ts'

interface Sent {
	message: string
	data: { id: string; status: string; scheduledFor: string | null; warnings: string[] }
}

export const sendCampaign = defineTool({
	name: 'send_campaign',
	title: 'Send or schedule a campaign',
	description:
		'Sends a campaign to its audience now, or at scheduledFor. It takes two calls. The first, without confirmToken, sends nothing and returns a preview: sender, subject, audience, number of recipients, and a confirmToken that is valid for ten minutes. Show the preview to the user. After they agree, call it again with the same arguments and the token. If the campaign or its audience has changed meanwhile, nothing is sent and a new preview is needed.',
	annotations: mailing,
	input: {
		campaignId,
		scheduledFor: Type.Optional(
			Type.String({
				format: 'date-time',
				description:
					'When to send it: an ISO 8601 time with its zone. Leave it out to send at once.',
			}),
		),
		confirmToken: ConfirmToken,
	},
	async run({ campaignId, scheduledFor, confirmToken }, context) {
		const { ask, em, pool, project, confirmations } = context
		const key = { projectId: project.id, campaignId }
		const campaign = existing(await findCampaign(pool, key), campaignId)
		const send = () =>
			ask<Sent>('POST', path`/campaigns/${campaignId}/send`, {
				body: scheduledFor === undefined ? {} : { scheduledFor },
				unchangedSince: campaign.updatedAt,
			})
		// The route refuses it in words of its own.
		if (hasStarted(campaign)) return done(await send())
		await requireSender(em, project.id, campaign.from)
		const { act, segment } = await actOf(campaign, scheduledFor, context)
		if (confirmToken !== undefined) {
			confirmations.check(confirmToken, act)
			return done(await send())
		}
		const { from, fromName, replyTo, type, status, audienceType } = campaign
		return {
			text: `Nothing has been sent. ${scheduledFor ? 'At that time, this' : 'This'} campaign would go to ${counted(act.count, 'contact')}. Show this preview to the user; if they agree, call send_campaign again with the same arguments and this confirmToken.`,
			data: {
				preview: {
					...only(campaign, 'id', 'name', 'status'),
					sends: whenOf(scheduledFor),
					recipients: act.count,
					sender: { from, fromName: fromName ?? project.name, replyTo },
					subject: briefText(campaign.subject),
					body: briefText(campaign.body),
					type,
					audience: { audienceType, segment, condition: briefData(campaign.audienceCondition) },
					...(status === 'SCHEDULED' && { wasScheduledFor: campaign.scheduledFor }),
				},
				...confirmations.offer(act),
			},
		}
	},
})

/** A confirmation covers the content, the time, and the rules that choose the audience. */
async function actOf(
	campaign: CampaignRecord,
	scheduledFor: string | undefined,
	{ ask, pool, project }: ToolContext,
) {
	const { segmentId, audienceCondition } = campaign
	const tree = (segmentId === null ? audienceCondition : membersOf(segmentId)) as Condition | null
	const segments = tree ? await segmentsReached(pool, project.id, tree) : new Map()
	const content = {
		scheduledFor: scheduledFor ?? null,
		...only(campaign, 'id', 'name', 'status', 'type', 'language', 'subject', 'body'),
		...only(campaign, 'from', 'fromName', 'replyTo', 'templateId'),
		...only(campaign, 'audienceType', 'segmentId', 'audienceCondition'),
		wasScheduledFor: campaign.scheduledFor,
		segments: Object.fromEntries(segments),
	}
	const count = await reachOf(campaign, ask)
	if (count === null) throw notCounted()
	const act = { projectId: project.publicId, act: 'send_campaign' as const, content, count }
	return { act, segment: segmentId }
}

/** The preview must say how many people the campaign reaches. */
const notCounted = () =>
	tooMuchToRead(
		'Counting the recipients of this campaign takes too long',
		'Nothing was sent. Try again, use a segment with trackMembership, or send the campaign in the console.',
	)

function whenOf(scheduledFor: string | undefined) {
	if (scheduledFor === undefined) return 'at once'
	const time = new Date(scheduledFor)
	return time.getTime() <= Date.now()
		? `at once, because ${time.toISOString()} is past`
		: `at ${time.toISOString()}`
}

const done = ({ message, data }: Sent) => ({ text: `${message}.`, data })
