import type { OpenMail } from '../../db/emails/ledger.ts'

/** The longest nap between two looks at whether the process is to end. */
export const napMs = 500

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

/** When a mail in doubt may be repeated. */
export const doubtEnds = (mail: TimedMail, uncertainAfterMs: number) =>
	mail.attemptStartedAt! + uncertainAfterMs

/** Whole milliseconds until the first of these mails can move by itself: what is due waits for a neighbour. */
export function untilNext(mails: Iterable<TimedMail>, uncertainAfterMs: number) {
	const now = performance.now()
	let next = now + 24 * 3_600_000
	for (const mail of mails) {
		if (mail.status === 'UNCERTAIN') next = Math.min(next, doubtEnds(mail, uncertainAfterMs))
		else if (mail.status === 'PENDING' && mail.dueAt !== null && mail.dueAt > now)
			next = Math.min(next, mail.dueAt)
		else next = Math.min(next, now + napMs)
	}
	return Math.max(Math.ceil(next - now), 1)
}
