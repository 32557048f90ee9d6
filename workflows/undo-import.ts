import { inTurns, orFail } from './job-work.ts'

/** Reverts the contacts that an import created or changed, except those that were changed since. */
export async function undoImport(job: { projectId: string; jobId: string }): Promise<void> {
	await orFail(job, inTurns('undoImport', job))
}
