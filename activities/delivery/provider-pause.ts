const firstPauseMs = 1000
const longestPauseMs = 60_000

export interface ProviderPause {
	/** How long nothing should be handed over; 0 when the way is open. */
	remainingMs(): number
	/** After a pause one mail goes ahead and finds out, instead of hundreds. */
	isProbing(): boolean
	reason(): string | null
	unavailable(error: string, retryAfterMs: number | null): void
	available(): void
}

/** What this process knows of the provider's health, shared by all its runs: one finds out for all. */
export function createProviderPause(): ProviderPause {
	let until = 0
	let failures = 0
	let error: string | null = null
	return {
		remainingMs: () => Math.ceil(Math.max(0, until - performance.now())),
		isProbing: () => failures > 0,
		reason: () => error,
		unavailable(why, retryAfterMs) {
			// Mails that were under way together fail together: they count as one.
			if (performance.now() < until) return
			const pauseMs = Math.min(firstPauseMs * 2 ** Math.min(failures, 10), longestPauseMs)
			failures += 1
			error = why
			until = performance.now() + Math.max(pauseMs, retryAfterMs ?? 0)
		},
		available() {
			failures = 0
			until = 0
			error = null
		},
	}
}
