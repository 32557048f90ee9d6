import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

const count = () => p.integer().default(0)

/**
 * What happened to a campaign's mails in a minute of its first day, or in an hour after that. Written where tallies
 * are folded, which know their time: so the figures of the last moments are still tallies.
 */
const schema = defineEntity({
	name: 'CampaignSlot',
	tableName: 'campaign_slots',
	properties: {
		projectId: p.uuid().primary(),
		campaignId: p.uuid().primary(),
		slot: p.datetime(3).primary(),
		sent: count(),
		delivered: count(),
		opened: count(),
		clicked: count(),
		bounced: count(),
		unsubscribed: count(),
	},
})

export class CampaignSlot extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'campaignId', 'slot']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'campaignId'], 'campaigns', 'cascade'),
	]
	static storage = ['set (fillfactor = 80)']
}
schema.setClass(CampaignSlot)
