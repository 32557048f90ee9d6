import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { closeRuns } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '6 hours',
	heartbeatTimeout: '6 seconds',
	retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
})

/** Closes the runs of a project's executions that have ended in the database, at a steady pace. */
export async function closeExecutions(project: { projectId: string }): Promise<string> {
	return `${await closeRuns(project)} runs are closed`
}
