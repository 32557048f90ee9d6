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

/** Each hour, Stripe is told what was sent in it; what could not be told is, the next time. */
export async function usageReporting(): Promise<string> {
	return reportUsage()
}

/** A project is gone, and nobody pays for it any more, nor begins to. Tried until Stripe has heard of it. */
export async function endSubscription(ended: EndedSubscription): Promise<void> {
	await endAtStripe(ended)
}
