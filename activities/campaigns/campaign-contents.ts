import type { CampaignKey } from '../../db/campaigns/campaign-actions.ts'
import type { CampaignLane } from '../../db/campaigns/campaign-ledger.ts'
import type { DeliveryServices } from '../delivery/delivery.ts'
import type { CampaignContent, CampaignRecipient } from '../../mail/campaign/campaign-message.ts'
import { attempt, mostMsOfCampaigns, performOnThread } from '../../mail/rendering.ts'
import { TemplateTooSlow } from '../delivery/unmade.ts'
import { createLimiter } from './campaign-queues.ts'

const mostKnown = 20
/** A campaign is paused once its slow mails exceed a tenth of all mails by this number. */
const mostSlow = 10
/**
 * After this many overruns, mails are rendered on a thread at once, without trying the event loop first.
 */
const mostOverruns = 3

/** Renders the mails of a campaign. */
export type CampaignTexts = ReturnType<typeof textsOf>

/** The templates of the campaigns sent most recently, shared by all their lanes and turns. */
export function createCampaignContents(settings: DeliveryServices['settings']) {
	const known = new Map<string, CampaignTexts>()
	return {
		of(key: CampaignKey, campaign: CampaignLane) {
			const { campaignId } = key
			const texts = known.get(campaignId) ?? textsOf(contentOf(settings, key, campaign), settings)
			known.delete(campaignId)
			known.set(campaignId, texts)
			if (known.size > mostKnown) known.delete(known.keys().next().value!)
			return texts
		},
		/** Slow mails are counted from zero in the next turn. */
		forget: ({ campaignId }: CampaignKey) => known.delete(campaignId),
	}
}

function textsOf(content: CampaignContent, { publicUrl }: { publicUrl: string }) {
	/** Only a few run at a time, so the waiting mails notice in time that their campaign will be paused. */
	const limited = createLimiter(2)
	let overruns = 0
	let slow = 0

	async function make<Task extends 'campaignWire' | 'campaignMessage'>(
		task: Task,
		recipient: CampaignRecipient,
	) {
		refuseIfSlow()
		const input = { content, publicUrl, recipient }
		const done = overruns < mostOverruns ? await attempt(task, input, mostMsOfCampaigns) : undefined
		if (done) {
			overruns = Math.max(0, overruns - 0.02)
			slow = Math.max(0, slow - 0.1)
			return done.value
		}
		overruns += 1
		return limited(async () => {
			refuseIfSlow()
			const made = await performOnThread(content.projectId, task, input)
			slow = made.isTooSlow ? slow + 1 : Math.max(0, slow - 0.1)
			return made
		})
	}

	function refuseIfSlow() {
		if (slow >= mostSlow) throw new TemplateTooSlow()
	}

	return {
		/** Ready for the wire: one character per byte, no line starting with a dot. */
		wire: (recipient: CampaignRecipient) => make('campaignWire', recipient),
		message: (recipient: CampaignRecipient) => make('campaignMessage', recipient),
		isTooSlow: () => slow >= mostSlow,
	}
}

function contentOf(
	{ trackingKey }: DeliveryServices['settings'],
	{ projectId, campaignId }: CampaignKey,
	{ subject, body, type, content_language, language, tracked, ...campaign }: CampaignLane,
): CampaignContent {
	return {
		campaignId,
		projectId,
		subject,
		body,
		from: { email: campaign.from, name: campaign.from_name },
		replyTo: campaign.reply_to,
		postalAddress: campaign.postal_address,
		type,
		contentLanguage: content_language,
		language,
		trackingKey: tracked ? trackingKey : null,
	}
}
