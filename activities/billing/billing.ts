import { log } from '@temporalio/activity'
import Type from 'typebox'
import type { Pool } from 'pg'
import {
	countPending,
	markRefused,
	markReported,
	noteUsageOf,
	pendingReports,
} from '../../db/billing/usage-reporting.ts'
import { beating } from '../beating.ts'
import { type Stripe, StripeError } from '../stripe/client.ts'
import { meterOf } from '../stripe/meter.ts'

const pageRows = 200
const first = '00000000-0000-0000-0000-000000000000'

interface BillingServices {
	pool: Pool
	/** undefined: nobody pays here. */
	stripe?: Stripe | undefined
}

export interface EndedSubscription {
	subscriptionId: string
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

		/** Of a project that is gone: it pays for what it has sent, and for nothing any more. */
		async endSubscription({ subscriptionId, customerId, unreported }: EndedSubscription) {
			if (!stripe) throw new Error('There is no billing on this service any more')
			await beating(async () => {
				if (unreported > 0) {
					const tell = await meterOf(stripe)
					await tell?.({ identifier: `end-${subscriptionId}`, customerId, value: unreported })
				}
				const path = `/v1/subscriptions/${encodeURIComponent(subscriptionId)}`
				try {
					await stripe.delete(path, { invoice_now: true }, Type.Object({}))
				} catch (error) {
					// It was ended before, by them or by our last try.
					if (!(error instanceof StripeError && error.status === 404)) throw error
				}
			})
		},
	}
}

/** An update answers in any order. */
const lastOf = (page: { id: string }[]) =>
	page.reduce((last, { id }) => (id > last ? id : last), first)
