import { inTurns, orFail } from './job-work.ts'

/** Makes an endpoint's deliveries of a period due again, a thousand at a time. Its run then delivers them. */
export async function replayWebhooks(job: { projectId: string; jobId: string }): Promise<void> {
	await orFail(job, inTurns('doReplay', job))
}
