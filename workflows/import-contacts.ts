import { inTurns, jobWork, orFail } from './job-work.ts'

/**
 * Imports a file: stages its rows, applies them in chunks and cleans up. After a crash it continues at the
 * first chunk that was not applied. It notices a cancellation between two chunks.
 */
export async function importContacts(job: { projectId: string; jobId: string }): Promise<void> {
	await orFail(job, run())
	await jobWork.clearImport(job)

	async function run() {
		if (await jobWork.stageImport(job)) await inTurns('applyImport', job)
	}
}
