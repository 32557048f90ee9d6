import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'

export const currencies = ['usd', 'eur', 'gbp'] as const

const limit = () => p.integer().nullable()

/** Who pays for a project, as Stripe told last, and what its members have limited it to. */
const schema = defineEntity({
	name: 'BillingAccount',
	tableName: 'billing_accounts',
	properties: {
		projectId: p.uuid().primary(),
		/** Stripe's ids. */
		customerId: p.text().unique().nullable(),
		subscriptionId: p.text().nullable(),
		/** Whether there is a subscription that is paid, or that Stripe still tries to collect. */
		subscribed: p.boolean().default(false),
		currency: p.text().nullable(),
		/** A month. null: as much as they like. */
		workflowsLimit: limit(),
		campaignsLimit: limit(),
		transactionalLimit: limit(),
		inboundLimit: limit(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class BillingAccount extends schema.class {}
schema.setClass(BillingAccount)
