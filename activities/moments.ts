import type { OpenMail } from '../db/ledger.ts'

/**
 * A mail whose moments are those of this process's monotonic clock. The database says how far off they
 * are: what the wall clock of this machine says, and whether somebody sets it, does not matter.
 */
export interface TimedMail extends OpenMail {
	/** Not before then; null: now. */
	dueAt: number | null
	attemptStartedAt: number | null
}

export const timed = (mail: OpenMail): TimedMail => ({
	...mail,
	dueAt: momentIn(mail.due_in_ms),
	attemptStartedAt: momentIn(mail.attempt_started_in_ms),
})

export const momentIn = (ms: number | null) => (ms === null ? null : performance.now() + ms)
