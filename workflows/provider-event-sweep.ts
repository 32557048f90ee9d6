import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { sweepProviderEvents } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '30 minutes',
	scheduleToCloseTimeout: '1 hour',
	heartbeatTimeout: '6 seconds',
})

/** Events that came before their mail was known find it now; those of last week are forgotten. */
export async function providerEventSweep(): Promise<string> {
	const { matched, forgotten } = await sweepProviderEvents()
	return `${matched} matched, ${forgotten} forgotten`
}
