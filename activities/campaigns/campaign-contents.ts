import type { CampaignKey } from '../../db/campaigns/campaign-actions.ts'
import type { CampaignLane } from '../../db/campaigns/campaign-ledger.ts'
import type { DeliveryServices } from '../delivery/delivery.ts'
import type { CampaignContent, CampaignRecipient } from '../../mail/campaign/campaign-message.ts'
import type { Message } from '../../mail/message.ts'
import { attempt, mostMsOfCampaigns, performOnThread } from '../../mail/rendering.ts'
import { TemplateTooSlow } from '../delivery/unmade.ts'
import type { MemoryShare } from './campaign-memory.ts'
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
	/** The size of a mail, as far as it is known. After a large mail, others are expected to be as large for a while. */
	let expected = 0

	async function make<Task extends 'campaignWire' | 'campaignMessage'>(
		task: Task,
		recipient: CampaignRecipient,
		share: MemoryShare | undefined,
	) {
		refuseIfSlow()
		const room = share?.ask(expected)
		if (room) await room
		const input = { content, publicUrl, recipient }
		const done = overruns < mostOverruns ? await attempt(task, input, mostMsOfCampaigns) : undefined
		if (done) {
			overruns = Math.max(0, overruns - 0.02)
			slow = Math.max(0, slow - 0.1)
			measure(sizeOf(done.value), share)
			return done.value
		}
		overruns += 1
		share?.keep(0)
		return limited(async () => {
			refuseIfSlow()
			await share?.ask(expected)
			const made = await performOnThread(content.projectId, task, input)
			measure(sizeOf(made), share)
			slow = made.isTooSlow ? slow + 1 : Math.max(0, slow - 0.1)
			return made
		})
	}

	function measure(bytes: number, share: MemoryShare | undefined) {
		expected = Math.max(bytes, expected + (bytes - expected) / 20)
		share?.keep(bytes)
	}

	function refuseIfSlow() {
		if (slow >= mostSlow) throw new TemplateTooSlow()
	}

	return {
		/** Ready for the wire: one character per byte, no line starting with a dot. */
		wire: (recipient: CampaignRecipient, share: MemoryShare) =>
			make('campaignWire', recipient, share),
		/** Without a share, the caller limits the mails that it keeps. */
		message: (recipient: CampaignRecipient, share?: MemoryShare) =>
			make('campaignMessage', recipient, share),
		/** Of the next mail. */
		expectedSize: () => expected,
		isTooSlow: () => slow >= mostSlow,
	}
}

const sizeOf = (made: { raw: string } | { message: Message }) =>
	'raw' in made ? made.raw.length : messageLength(made.message)

export const messageLength = ({ html, text }: Message) => html.length + text.length

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
