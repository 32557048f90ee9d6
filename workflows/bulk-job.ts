import { inTurns, orFail } from './job-work.ts'

/** Applies one action to many contacts, listed or filtered, a thousand at a time. */
export async function bulkJob(job: { projectId: string; jobId: string }): Promise<void> {
	await orFail(job, inTurns('doBulkJob', job))
}
