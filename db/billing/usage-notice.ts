import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'
import { usageCategories } from './usage-count.ts'

/** `total`: the limit for all categories together without a subscription. */
export const limitedCategories = [...usageCategories, 'total'] as const
export type LimitedCategory = (typeof limitedCategories)[number]

/** A notice of a limit to the members of a project: once per month, category and level. */
const schema = defineEntity({
	name: 'UsageNotice',
	tableName: 'usage_notices',
	properties: {
		projectId: p.uuid().primary(),
		month: p.date().primary(),
		category: p.enum(limitedCategories).primary(),
		/** In percent: near the limit (80), or at it (100). */
		level: p.smallint().primary(),
		toldAt: p.datetime(3).defaultRaw('now()'),
	},
})

export class UsageNotice extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'month', 'category', 'level']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(UsageNotice)
