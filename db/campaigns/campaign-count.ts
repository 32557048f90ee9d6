import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

// The number of a campaign's mails in each state, without a row that all writers wait for. Triggers on
// `emails` append each statement's changes to campaign_tallies, and now and then one of these statements
// also folds those older than half a minute into campaign_counts. Housekeeping folds the remainder. The
// sum of both is always exact, whichever statement changed the mails. Tallies that are not folded yet show
// the sending rate.

const count = () => p.integer().default(0)

/**
 * The first six are the states that `progress` shows; each mail is in exactly one. The others count
 * events.
 */
const counts = {
	pending: count(),
	sending: count(),
	uncertain: count(),
	sent: count(),
	failed: count(),
	skipped: count(),
	delivered: count(),
	opened: count(),
	clicked: count(),
	bounced: count(),
	complained: count(),
	unsubscribed: count(),
}
export const countNames = Object.keys(counts)

const tallySchema = defineEntity({
	name: 'CampaignTally',
	tableName: 'campaign_tallies',
	properties: {
		projectId: p.uuid().primary(),
		campaignId: p.uuid().primary(),
		/** Also contains the time. */
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		...counts,
	},
})

export class CampaignTally extends tallySchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'campaignId', 'id']
	static references = [
		reference(['projectId'], 'projects', 'cascade', { isEnforced: false }),
		reference(['projectId', 'campaignId'], 'campaigns', 'cascade'),
	]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)']
}
tallySchema.setClass(CampaignTally)

const countSchema = defineEntity({
	name: 'CampaignCount',
	tableName: 'campaign_counts',
	properties: {
		projectId: p.uuid().primary(),
		campaignId: p.uuid().primary(),
		...counts,
	},
})

export class CampaignCount extends countSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'campaignId']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'campaignId'], 'campaigns', 'cascade'),
	]
	static storage = ['set (fillfactor = 20)']
}
countSchema.setClass(CampaignCount)
