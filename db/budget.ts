import { defineEntity, p } from '@mikro-orm/core'

const rateSchema = defineEntity({
	name: 'RateBudget',
	tableName: 'rate_budgets',
	properties: {
		projectId: p.uuid().primary(),
		/** The minute that `leased` counts. */
		windowStart: p.datetime(3),
		/** Requests of that minute that processes have leased, used or not yet. */
		leased: p.integer(),
	},
})

/** How many API requests a project has made this minute. */
export class RateBudget extends rateSchema.class {}
rateSchema.setClass(RateBudget)

const sendSchema = defineEntity({
	name: 'SendBudget',
	tableName: 'send_budgets',
	properties: {
		projectId: p.uuid().primary(),
		/** When the next mail may leave: the theoretical arrival time of virtual scheduling. */
		nextAt: p.datetime(6),
	},
})

/** When a project may hand over its next mail. */
export class SendBudget extends sendSchema.class {}
sendSchema.setClass(SendBudget)
