import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/**
 * A part of what a project has sent, for Stripe to bill: all of a month's reports together are what was
 * sent in it. Its id is the event's identifier, by which Stripe knows it again when it is told twice.
 */
const schema = defineEntity({
	name: 'UsageReport',
	tableName: 'usage_reports',
	indexes: [
		{
			name: 'usage_reports_pending',
			properties: ['projectId', 'id'],
			where: 'reported_at is null',
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		month: p.date().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		value: p.integer(),
		/** Who pays. null: nobody, it was sent without a subscription. */
		customerId: p.text().nullable(),
		/** When it was used, for Stripe: within its month while that can still be billed. */
		at: p.datetime(3),
		/** When Stripe was first told; its outcome is known once it is reported, or refused. */
		attemptedAt: p.datetime(3).nullable(),
		reportedAt: p.datetime(3).nullable(),
		error: p.text().nullable(),
	},
})

export class UsageReport extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'month', 'id']
}
schema.setClass(UsageReport)
