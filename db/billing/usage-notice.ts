import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { usageCategories } from './usage-count.ts'

/** `total`: of all together, without a subscription. */
export const limitedCategories = [...usageCategories, 'total'] as const
export type LimitedCategory = (typeof limitedCategories)[number]

/** That the members of a project were told of a limit: once a month, category and level. */
const schema = defineEntity({
	name: 'UsageNotice',
	tableName: 'usage_notices',
	properties: {
		projectId: p.uuid().primary(),
		month: p.date().primary(),
		category: p.enum(limitedCategories).primary(),
		/** In percent: near it (80), or reached (100). */
		level: p.smallint().primary(),
		toldAt: p.datetime(3).defaultRaw('now()'),
	},
})

export class UsageNotice extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'month', 'category', 'level']
}
schema.setClass(UsageNotice)
