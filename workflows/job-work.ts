import {
	ActivityFailure,
	continueAsNew,
	patched,
	proxyActivities,
	workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { untiring } from './retry.ts'
import { taskQueues } from './task-queues.ts'

interface Job {
	projectId: string
	jobId: string
}

/** Work on many contacts, in chunks. The database records how far each job has come. */
export const jobWork = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '6 hours',
	scheduleToCloseTimeout: '1 day',
	heartbeatTimeout: '6 seconds',
	retry: untiring,
})

/** The activities that do a job's work. Each returns true if the job needs another turn. */
type Turns = 'doBulkJob' | 'doReplay' | 'applyImport' | 'undoImport'

/** Does a job's work in short turns, so that many jobs share the slots of few workers. */
export async function inTurns(turn: Turns, job: Job) {
	if (!patched('jobs-in-turns')) return void (await jobWork[turn](job))
	while (!workflowInfo().continueAsNewSuggested) if (!(await jobWork[turn](job, true))) return
	return continueAsNew<(job: Job) => Promise<void>>(job)
}

/** Work that can never succeed ends the job with a reason, instead of being retried forever. */
export async function orFail(job: Job, work: Promise<unknown>) {
	try {
		await work
	} catch (error) {
		if (!(error instanceof ActivityFailure)) throw error
		await jobWork.endAsFailed(job)
	}
}
