import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { keepHouse } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '2 hours',
	scheduleToCloseTimeout: '6 hours',
	heartbeatTimeout: '6 seconds',
})

/** Takes away what has served its time; its result says what that was. */
export async function housekeeping(): Promise<string> {
	return keepHouse()
}
