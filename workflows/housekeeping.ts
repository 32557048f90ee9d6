import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { keepHouse } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '2 hours',
	scheduleToCloseTimeout: '6 hours',
	heartbeatTimeout: '6 seconds',
})

/** Deletes expired rows. Its result lists what it deleted. */
export async function housekeeping(): Promise<string> {
	return keepHouse()
}
