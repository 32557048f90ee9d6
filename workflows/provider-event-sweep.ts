import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { sweepProviderEvents } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '30 minutes',
	scheduleToCloseTimeout: '1 hour',
	heartbeatTimeout: '6 seconds',
})

/**
 * Matches provider events that arrived before their mail was known, and deletes those older than a week.
 */
export async function providerEventSweep(): Promise<string> {
	const { matched, forgotten } = await sweepProviderEvents()
	return `${matched} matched, ${forgotten} forgotten`
}
