import { Context, log } from '@temporalio/activity'
import type { Pool } from 'pg'
import {
	attemptFinalUsage,
	confirmFinalUsage,
	unmarkFinalUsage,
} from '../../db/billing/final-usage.ts'
import {
	attemptReport,
	countPending,
	markRefused,
	markReported,
	createReportsOfPage,
	pendingReports,
	unmarkAttempt,
} from '../../db/billing/usage-reporting.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { cleanUp } from '../cleanup.ts'
import {
	isInternal,
	isRefusal,
	isStripeError,
	isTurnedAway,
	type Stripe,
} from '../../outside/stripe/client.ts'
import { expireCheckouts } from '../../outside/stripe/customer.ts'
import { meterOf } from '../../outside/stripe/meter.ts'
import { endSubscriptions } from '../../outside/stripe/subscription.ts'

const pageRows = 200
const first = '00000000-0000-0000-0000-000000000000'

interface BillingServices {
	pool: Pool
	/** undefined: this service has no billing. */
	stripe?: Stripe | undefined
}

export interface EndedSubscription {
	/** The last subscription that was reported to us. Stripe may have another. */
	subscriptionId: string | null
	customerId: string
	/** Mail sent by the project that was not reported to Stripe. */
	unreported: number
}

export function billingActivities({ pool, stripe }: BillingServices) {
	return {
		/** Reports the mail sent since the last report, and reports that failed before. */
		async reportUsage(): Promise<string> {
			if (!stripe) return 'there is no billing on this service'
			return withHeartbeat(async () => {
				const report = await meterOf(stripe)
				if (!report) return 'the price of the subscription has no meter'
				for (let after: string | null = first; after !== null;)
					after = await createReportsOfPage(pool, after, pageRows)
				let reported = 0
				let fault: unknown
				for (let after: string | null = first; after !== null;) {
					const page = await pendingReports(pool, { after, limit: pageRows })
					for (const { project_id, id } of page) {
						const key = { projectId: project_id, reportId: id }
						const [due] = await attemptReport(pool, key)
						if (!due) continue
						const { customer_id: customerId, value, at: timestamp, is_first: isFirst } = due
						try {
							await report({ identifier: id, customerId, value, timestamp })
							await markReported(pool, key)
							reported++
						} catch (error) {
							if (isFirst && isTurnedAway(error)) await unmarkAttempt(pool, key)
							// An answer concerns one customer. Without any, the others would fail too.
							if (isInternal(error)) {
								fault ??= error
								continue
							}
							if (!isRefusal(error)) throw error
							log.error('Stripe refused a usage report', { projectId: project_id, id, error })
							await markRefused(pool, { ...key, error: error.message })
						}
					}
					after = page.length < pageRows ? null : lastOf(page)
				}
				if (fault) throw fault
				const [left] = await countPending(pool)
				if (left!.doubtful > 0)
					log.error('some usage reports may have reached Stripe and are not repeated', { ...left })
				return `${reported} reported, ${left!.pending} left, ${left!.doubtful} of them in doubt`
			})
		},

		/** For a deleted project: bills its remaining mail, then ends its subscriptions for good. */
		async endSubscription({ subscriptionId, customerId, unreported }: EndedSubscription) {
			if (!stripe) throw new Error('There is no billing on this service any more')
			const { workflowId } = Context.current().info.workflowExecution!
			const reportRest = async () => {
				const report = await meterOf(stripe)
				const [rest] = report ? await attemptFinalUsage(pool, { workflowId }) : []
				if (!report || !rest || rest.unreported === 0) return
				if (!rest.is_repeatable) {
					const fault =
						'the last usage of a deleted project may have reached Stripe and is not repeated'
					return log.error(fault, { customerId, unreported })
				}
				try {
					const identifier = `end-${subscriptionId ?? customerId}`
					await report({ identifier, customerId, value: rest.unreported })
				} catch (error) {
					if (rest.is_first && isTurnedAway(error)) await unmarkFinalUsage(pool, { workflowId })
					throw error
				}
				await confirmFinalUsage(pool, { workflowId })
			}
			const end = async () => {
				if (unreported > 0) await reportRest()
				try {
					// This order matters: a checkout that was paid before it expired shows up among the subscriptions.
					await expireCheckouts(stripe, customerId)
					await endSubscriptions(stripe, customerId)
				} catch (error) {
					// The customer belongs to another Stripe account or to test mode, so there is nothing to end.
					if (!(isStripeError(error) && error.code === 'resource_missing')) throw error
				}
			}
			await withHeartbeat(() => cleanUp(pool, end))
		},
	}
}

/** The last id of a page. An UPDATE returns its rows in no particular order. */
const lastOf = (page: { id: string }[]) =>
	page.reduce((last, { id }) => (id > last ? id : last), first)
