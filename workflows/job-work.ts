import { ActivityFailure, proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { untiring } from './retry.ts'
import { taskQueues } from './task-queues.ts'

/** Work on many contacts, in chunks that know by the database how far they are. */
export const jobWork = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '6 hours',
	scheduleToCloseTimeout: '1 day',
	heartbeatTimeout: '6 seconds',
	retry: untiring,
})

/** What cannot be done at all ends the job with a reason, rather than be tried for ever. */
export async function orFail(job: { projectId: string; jobId: string }, work: Promise<unknown>) {
	try {
		await work
	} catch (error) {
		if (!(error instanceof ActivityFailure)) throw error
		await jobWork.endAsFailed(job)
	}
}
