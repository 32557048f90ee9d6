import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/** The categories of usage. Each is counted and may be limited on its own. */
export const usageCategories = ['workflows', 'campaigns', 'transactional', 'inbound'] as const
export type UsageCategory = (typeof usageCategories)[number]

// The usage of each project per calendar month (UTC), without a row that all writers wait for. Triggers on
// `emails` append each statement's changes to usage_tallies, and now and then one of these statements also
// folds the project's tallies into usage_counts. The sum of both is always exact, whichever statement
// changed the mails. A mail with attachments counts 2; FAILED, SUPPRESSED and CANCELLED ones count
// nothing.

const counts = {
	month: p.date(),
	category: p.enum(usageCategories),
	/**
	 * The usage that limits apply to: counted when a mail is accepted, so that nobody queues mail they may
	 * not send. For campaigns, which wait for a limit to be raised, it is counted when a mail is sent.
	 */
	used: p.integer(),
	/** The usage that is billed: mail that was sent, in the month of sending. */
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
	static references = [reference(['projectId'], 'projects', 'cascade', { isEnforced: false })]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)']
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
		/** The usage at the last comparison with the limits. */
		judged: p.integer().default(0),
	},
})

export class UsageCount extends countSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'month', 'category']
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = ['set (fillfactor = 50)']
}
countSchema.setClass(UsageCount)
