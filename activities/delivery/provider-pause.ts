import type { Away } from '../../db/provider-state.ts'

const firstPauseMs = 1000
const longestPauseMs = 60_000

export interface ProviderPause {
	/** How long no mail should be handed over; 0 when the provider is available. */
	remainingMs(): number
	/** After a pause a single mail tests the provider, instead of hundreds. */
	isProbing(): boolean
	reason(): string | null
	/** When the latest pause ended or will end, on the monotonic clock; 0 if there was none. */
	endsAt(): number
	/** The provider refused the mail handed over at `startedAt` (monotonic clock) for a reason of its own. */
	unavailable(error: string, retryAfterMs: number | null, startedAt: number): void
	/** The provider took the mail handed over at `startedAt`, or refused it because of the mail itself. */
	available(startedAt: number): void
}

/**
 * This process's view of the provider's health, shared by all its runs. Every change is stored for other
 * processes.
 */
export function createProviderPause(report: (away: Away | null) => void = () => {}): ProviderPause {
	let until = 0
	let refusedAt = 0
	let failures = 0
	let error: string | null = null
	return {
		remainingMs: () => Math.ceil(Math.max(0, until - performance.now())),
		isProbing: () => failures > 0,
		reason: () => error,
		endsAt: () => until,
		unavailable(why, retryAfterMs, startedAt) {
			const now = performance.now()
			const before = until
			// Mails under way at the same time fail together, so they count as one failure.
			if (now >= until && startedAt >= refusedAt) {
				failures += 1
				refusedAt = now
				until = now + Math.min(firstPauseMs * 2 ** Math.min(failures - 1, 10), longestPauseMs)
				error = why
			}
			until = Math.max(until, now + (retryAfterMs ?? 0))
			if (until > before) report({ error: why, waitMs: until - now })
		},
		available(startedAt) {
			// A mail that was under way before the refusal says nothing about the provider's state after it.
			if (startedAt < refusedAt || failures === 0) return
			failures = 0
			until = Math.min(until, performance.now())
			error = null
			report(null)
		},
	}
}
