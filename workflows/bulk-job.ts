import { jobWork, orFail } from './job-work.ts'

/** Does one thing to many contacts, named or described, a thousand at a time. */
export async function bulkJob(job: { projectId: string; jobId: string }): Promise<void> {
	await orFail(job, jobWork.doBulkJob(job))
}
