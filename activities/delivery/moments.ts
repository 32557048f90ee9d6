import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenMail } from '../../db/emails/ledger.ts'

/** The longest sleep before checking again whether the process is stopping. */
export const napMs = 500
/** Longer waits belong to the workflow: there they survive this process and occupy no activity slot. */
export const longestInlineWaitMs = 5000

/**
 * A mail whose times are on this process's monotonic clock. The database returns them relative to its own
 * clock, so this machine's wall clock has no effect.
 */
export interface TimedMail extends OpenMail {
	/** The mail is sent at this time at the earliest; null: now. */
	dueAt: number | null
	attemptStartedAt: number | null
}

export const timed = (mail: OpenMail): TimedMail => ({
	...mail,
	dueAt: momentIn(mail.due_in_ms),
	attemptStartedAt: momentIn(mail.attempt_started_in_ms),
})

export const momentIn = (ms: number | null) => (ms === null ? null : performance.now() + ms)

/** The time at which a mail in doubt may be repeated. */
export const doubtEnds = (mail: TimedMail, uncertainAfterMs: number) =>
	mail.attemptStartedAt! + uncertainAfterMs

/**
 * Whole milliseconds until the first of these mails can proceed by itself. A mail that is due waits for
 * another.
 */
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

/** Returns early if the process is stopping. */
export async function wait(ms: number, stopping: AbortSignal) {
	const until = performance.now() + ms
	for (let left = ms; left > 0 && !stopping.aborted; left = until - performance.now())
		await sleep(Math.min(left, napMs))
}
