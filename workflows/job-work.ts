import { ActivityFailure, proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { untiring } from './retry.ts'
import { taskQueues } from './task-queues.ts'

/** Work on many contacts, in chunks. The database records how far each job has come. */
export const jobWork = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '6 hours',
	scheduleToCloseTimeout: '1 day',
	heartbeatTimeout: '6 seconds',
	retry: untiring,
})

/** Work that can never succeed ends the job with a reason, instead of being retried forever. */
export async function orFail(job: { projectId: string; jobId: string }, work: Promise<unknown>) {
	try {
		await work
	} catch (error) {
		if (!(error instanceof ActivityFailure)) throw error
		await jobWork.endAsFailed(job)
	}
}
