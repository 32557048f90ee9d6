import type { CampaignKey } from '../../db/campaigns/campaign-actions.ts'
import type { CampaignLane } from '../../db/campaigns/campaign-ledger.ts'
import type { DeliveryServices } from '../delivery/delivery.ts'
import type { CampaignContent, CampaignRecipient } from '../rendering/campaign-message.ts'
import { attempt, performOnThread } from '../rendering/rendering.ts'
import { createLines } from './campaign-line.ts'

const mostKnown = 20
/** A campaign is paused when so many more of its mails than a tenth of all took too long. */
const mostSlow = 10
/** From then on nothing of a campaign is attempted on the event loop. */
const mostOverruns = 3

/** How the mails of a campaign are put together. */
export type CampaignTexts = ReturnType<typeof textsOf>

/** The campaigns that were sent last, for all their lanes and turns. */
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
		/** The next turn counts anew. */
		forget: ({ campaignId }: CampaignKey) => known.delete(campaignId),
	}
}

function textsOf(content: CampaignContent, { publicUrl }: { publicUrl: string }) {
	/** A few at a time: the others see in time that their campaign is to be paused. */
	const inTurn = createLines(2)
	let overruns = 0
	let slow = 0

	async function make<Task extends 'campaignWire' | 'campaignMessage'>(
		task: Task,
		recipient: CampaignRecipient,
	) {
		refuseIfSlow()
		const input = { content, publicUrl, recipient }
		const done = overruns < mostOverruns ? await attempt(task, input) : undefined
		if (done) {
			overruns = Math.max(0, overruns - 0.02)
			slow = Math.max(0, slow - 0.1)
			return done.value
		}
		overruns += 1
		return inTurn(async () => {
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
		/** Ready for the wire, one character a byte, no line beginning with a dot. */
		wire: (recipient: CampaignRecipient) => make('campaignWire', recipient),
		message: (recipient: CampaignRecipient) => make('campaignMessage', recipient),
		isTooSlow: () => slow >= mostSlow,
	}
}

/** The mail waits until somebody has mended its template. */
export class TemplateTooSlow extends Error {
	override message = 'The template of this campaign takes too long'
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
