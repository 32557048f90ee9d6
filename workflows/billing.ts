import { proxyActivities } from '@temporalio/workflow'
import type { EndedSubscription } from '../activities/billing/billing.ts'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { reportUsage, endSubscription: endAtStripe } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '30 minutes',
	heartbeatTimeout: '30 seconds',
	retry: { maximumInterval: '10 minutes' },
})

/** Every hour, reports the mail sent in that hour to Stripe. A report that fails is sent the next time. */
export async function usageReporting(): Promise<string> {
	return reportUsage()
}

/**
 * Ends the subscription of a deleted project and closes its open checkouts. Retries until Stripe confirms.
 */
export async function endSubscription(ended: EndedSubscription): Promise<void> {
	await endAtStripe(ended)
}
