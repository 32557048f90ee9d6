import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/** What is counted apart, and may be limited apart. */
export const usageCategories = ['workflows', 'campaigns', 'transactional', 'inbound'] as const
export type UsageCategory = (typeof usageCategories)[number]

// What each project uses in each calendar month (UTC), without a row that everybody waits for: triggers
// on `emails` append what each statement changed to usage_tallies, and one in some of these statements
// also folds the project's tallies into usage_counts. The sum of both is exact at any time, whoever
// changed the mails and however. A mail with attachments counts 2; FAILED, SUPPRESSED and CANCELLED ones
// count nothing.

const counts = {
	month: p.date(),
	category: p.enum(usageCategories),
	/**
	 * What limits are about: from the moment a mail is accepted, so that nobody queues what they may not
	 * send; of campaigns, which wait for a limit to be raised, from the moment it has left.
	 */
	used: p.integer(),
	/** What is paid for: what has left, in the month in which it did. */
	sent: p.integer(),
}

const tallySchema = defineEntity({
	name: 'UsageTally',
	tableName: 'usage_tallies',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		...counts,
	},
})

export class UsageTally extends tallySchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
}
tallySchema.setClass(UsageTally)

const countSchema = defineEntity({
	name: 'UsageCount',
	tableName: 'usage_counts',
	indexes: [{ name: 'usage_counts_unjudged', properties: ['projectId'], where: 'used <> judged' }],
	properties: {
		projectId: p.uuid().primary(),
		...counts,
		month: p.date().primary(),
		category: p.enum(usageCategories).primary(),
		/** What was used when somebody looked last at what follows from it. */
		judged: p.integer().default(0),
	},
})

export class UsageCount extends countSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'month', 'category']
}
countSchema.setClass(UsageCount)
