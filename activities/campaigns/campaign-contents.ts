import type { CampaignKey } from '../../db/campaigns/campaign-actions.ts'
import type { CampaignLane } from '../../db/campaigns/campaign-ledger.ts'
import type { DeliveryServices } from '../delivery/delivery.ts'
import { type CampaignMessages, compileCampaign } from '../rendering/campaign-message.ts'

const mostCompiled = 20

/** The campaigns that were sent last, compiled once for all their lanes and turns. */
export function createCampaignContents(settings: DeliveryServices['settings']) {
	const compiled = new Map<string, CampaignMessages>()
	return (key: CampaignKey, campaign: CampaignLane) => {
		const { campaignId } = key
		const messages = compiled.get(campaignId) ?? compile(settings, key, campaign)
		compiled.delete(campaignId)
		compiled.set(campaignId, messages)
		if (compiled.size > mostCompiled) compiled.delete(compiled.keys().next().value!)
		return messages
	}
}

function compile(
	settings: DeliveryServices['settings'],
	{ projectId, campaignId }: CampaignKey,
	{ subject, body, type, content_language, language, tracked, ...campaign }: CampaignLane,
) {
	const from = { email: campaign.from, name: campaign.from_name }
	const trackingKey = tracked ? settings.trackingKey : null
	const said = { subject, body, type, contentLanguage: content_language, language }
	const { reply_to: replyTo, postal_address: postalAddress } = campaign
	const content = { campaignId, projectId, from, trackingKey, ...said }
	return compileCampaign({ ...content, replyTo, postalAddress }, settings.publicUrl)
}
