import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/**
 * A part of a project's usage, for Stripe to bill. All reports of a month add up to the mail sent in it.
 * Stripe identifies a report by its id, so reporting it twice has no effect.
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
		/** The paying customer. null: the mail was sent without a subscription and is free. */
		customerId: p.text().nullable(),
		/** The time of use, for Stripe: within its month while that can still be billed. */
		at: p.datetime(3),
		/** The first time it was sent to Stripe. Its outcome is known once it is reported or refused. */
		attemptedAt: p.datetime(3).nullable(),
		reportedAt: p.datetime(3).nullable(),
		error: p.text().nullable(),
	},
})

export class UsageReport extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'month', 'id']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(UsageReport)
