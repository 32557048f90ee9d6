import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'
import { reference } from '../reference.ts'

export const currencies = ['usd', 'eur', 'gbp'] as const

const limit = () => p.integer().nullable()

/**
 * A project's customer at Stripe, in the last state that Stripe reported, and the limits set by its
 * members.
 */
export const billingAccountSchema = defineEntity({
	name: 'BillingAccount',
	tableName: 'billing_accounts',
	properties: {
		projectId: p.uuid().primary(),
		/** Stripe's ids. */
		customerId: p.text().unique().nullable(),
		subscriptionId: p.text().nullable(),
		/** Whether there is a subscription that is paid, or whose payment Stripe still tries to collect. */
		subscribed: p.boolean().default(false),
		currency: p.text().nullable(),
		/** Whether Stripe has made its last attempt to collect a payment. */
		paymentFailed: p.boolean().default(false),
		/** Per month. null: no limit. */
		workflowsLimit: limit(),
		campaignsLimit: limit(),
		transactionalLimit: limit(),
		inboundLimit: limit(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class BillingAccount extends billingAccountSchema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
billingAccountSchema.setClass(BillingAccount)
