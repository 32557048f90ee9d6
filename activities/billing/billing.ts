import { log } from '@temporalio/activity'
import type { Pool } from 'pg'
import {
	countPending,
	markRefused,
	markReported,
	noteUsageOf,
	pendingReports,
} from '../../db/billing/usage-reporting.ts'
import { beating } from '../beating.ts'
import { errand } from '../errand.ts'
import { type Stripe, StripeError } from '../stripe/client.ts'
import { expireCheckouts } from '../stripe/customer.ts'
import { meterOf } from '../stripe/meter.ts'
import { endSubscriptions } from '../stripe/subscription.ts'

const pageRows = 200
const first = '00000000-0000-0000-0000-000000000000'

interface BillingServices {
	pool: Pool
	/** undefined: nobody pays here. */
	stripe?: Stripe | undefined
}

export interface EndedSubscription {
	/** The last one that was heard of: there may be another that was not. */
	subscriptionId: string | null
	customerId: string
	/** What the project had sent, and nobody had told Stripe of. */
	unreported: number
}

export function billingActivities({ pool, stripe }: BillingServices) {
	return {
		/** Tells Stripe what was sent since the last time, and what is left of the times before. */
		async reportUsage(): Promise<string> {
			if (!stripe) return 'there is no billing on this service'
			return beating(async () => {
				const tell = await meterOf(stripe)
				if (!tell) return 'what is subscribed to has no meter'
				for (let after: string | null = first; after !== null;)
					after = await noteUsageOf(pool, after, pageRows)
				let reported = 0
				for (let after: string | null = first; after !== null;) {
					const page = await pendingReports(pool, [after, pageRows])
					for (const { project_id, id, customer_id, value, at } of page) {
						const usage = { identifier: id, customerId: customer_id, value, timestamp: at }
						try {
							await tell(usage)
							await markReported(pool, [project_id, id])
							reported++
						} catch (error) {
							// One customer's trouble is not the others'; without an answer nobody has one.
							if (!(error instanceof StripeError && error.isRefusal)) throw error
							log.error('Stripe refused a report of usage', { projectId: project_id, id, error })
							await markRefused(pool, [project_id, id, error.message])
						}
					}
					after = page.length < pageRows ? null : lastOf(page)
				}
				const [left] = await countPending(pool, [])
				if (left!.doubtful > 0)
					log.error('Stripe may know of some reports, and is not told again', { ...left })
				return `${reported} reported, ${left!.pending} left, ${left!.doubtful} of them in doubt`
			})
		},

		/** Of a project that is gone: it pays for what it has sent, for nothing any more, and never again. */
		async endSubscription({ subscriptionId, customerId, unreported }: EndedSubscription) {
			if (!stripe) throw new Error('There is no billing on this service any more')
			const end = async () => {
				if (unreported > 0) {
					const identifier = `end-${subscriptionId ?? customerId}`
					const tell = await meterOf(stripe)
					await tell?.({ identifier, customerId, value: unreported })
				}
				try {
					// In this order: what was paid on a page until it closed is among the subscriptions then.
					await expireCheckouts(stripe, customerId)
					await endSubscriptions(stripe, customerId)
				} catch (error) {
					// The customer is one of another account, or of its test mode: nobody pays here.
					if (!(error instanceof StripeError && error.code === 'resource_missing')) throw error
				}
			}
			await beating(() => errand(pool, end))
		},
	}
}

/** An update answers in any order. */
const lastOf = (page: { id: string }[]) =>
	page.reduce((last, { id }) => (id > last ? id : last), first)
