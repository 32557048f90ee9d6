import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

// How many mails of a campaign are in which state, without a row that everybody waits for: triggers on
// `emails` append what each statement changed to campaign_tallies, and one in some of these statements
// also folds what is older than half a minute into campaign_counts; what is left at the end, housekeeping
// folds. The sum of both is exact at any time, whoever changed the mails and however, and what is not
// folded yet tells how fast they go.

const count = () => p.integer().default(0)

/** The first six, of which each mail is in one, are what `progress` tells; the others, what happened. */
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
		/** Tells the time, too. */
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		...counts,
	},
})

export class CampaignTally extends tallySchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'campaignId', 'id']
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
}
countSchema.setClass(CampaignCount)
