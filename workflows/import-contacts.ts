import { jobWork, orFail } from './job-work.ts'

/**
 * Imports a file: sets its rows down, applies them in chunks, clears up. It may die at any moment and
 * goes on at the chunk it had reached; a cancelled job is noticed between two chunks.
 */
export async function importContacts(job: { projectId: string; jobId: string }): Promise<void> {
	await orFail(job, run())
	await jobWork.clearImport(job)

	async function run() {
		if (await jobWork.stageImport(job)) await jobWork.applyImport(job)
	}
}
