import { jobWork, orFail } from './job-work.ts'

/** Takes an import back: what it created and changed, unless somebody changed it since. */
export async function undoImport(job: { projectId: string; jobId: string }): Promise<void> {
	await orFail(job, jobWork.undoImport(job))
}
