import type { Away } from '../../db/provider-state.ts'

const firstPauseMs = 1000
const longestPauseMs = 60_000

export interface ProviderPause {
	/** How long nothing should be handed over; 0 when the way is open. */
	remainingMs(): number
	/** After a pause one mail goes ahead and finds out, instead of hundreds. */
	isProbing(): boolean
	reason(): string | null
	/** It refused what was handed over at `startedAt`, by the monotonic clock. */
	unavailable(error: string, retryAfterMs: number | null, startedAt: number): void
	/** It took, or refused for its own sake, what was handed over at `startedAt`. */
	available(startedAt: number): void
}

/**
 * What this process knows of the provider's health, shared by all its runs: one finds out for all. Every
 * change is noted for other processes.
 */
export function createProviderPause(note: (away: Away | null) => void = () => {}): ProviderPause {
	let until = 0
	let refusedAt = 0
	let failures = 0
	let error: string | null = null
	return {
		remainingMs: () => Math.ceil(Math.max(0, until - performance.now())),
		isProbing: () => failures > 0,
		reason: () => error,
		unavailable(why, retryAfterMs, startedAt) {
			const now = performance.now()
			const before = until
			// Mails that were under way together fail together: they count as one.
			if (now >= until && startedAt >= refusedAt) {
				failures += 1
				refusedAt = now
				until = now + Math.min(firstPauseMs * 2 ** Math.min(failures - 1, 10), longestPauseMs)
				error = why
			}
			until = Math.max(until, now + (retryAfterMs ?? 0))
			if (until > before) note({ error: why, waitMs: until - now })
		},
		available(startedAt) {
			// A mail that was under way before the refusal says nothing about the time after it.
			if (startedAt < refusedAt || failures === 0) return
			failures = 0
			until = 0
			error = null
			note(null)
		},
	}
}
