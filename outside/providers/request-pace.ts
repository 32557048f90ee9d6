import { setTimeout as sleep } from 'node:timers/promises'

/** The first interval for a provider that doesn't state its limit. */
const firstIntervalMs = 100
/**
 * Until the first refusal, each answer shortens the interval by this factor; after a second no interval is
 * left.
 */
const firstGrowth = 1.1
/** After a refusal the interval shortens slowly, so that only a few requests in a hundred are refused. */
const growth = 1.01
const slowdown = 1.4
const longestIntervalMs = 10_000
const defaultPauseMs = 1000
const longestPauseMs = 60_000
/**
 * After a refusal that asks for a longer wait, those that wait give up: meanwhile their campaign may be cancelled, or
 * their readers may unsubscribe.
 */
const longestWaitMs = 2000

/** What an answer says about the request rate. */
export interface PaceAnswer {
	isRefused: boolean
	/** No request should be made for this time; null: the answer doesn't say. */
	waitMs: number | null
}

export interface RequestPace {
	/** Resolves when the next request may be sent, or at once if the provider has asked for a long wait. */
	turn(): Promise<{ startedAt: number } | { waitMs: number }>
	/** Reports the answer to the request sent at `startedAt`. */
	heard(startedAt: number, answer: PaceAnswer): void
}

/** Learns how many requests per second a provider accepts, for all its callers. */
export function createRequestPace(): RequestPace {
	let intervalMs = firstIntervalMs
	let factor = firstGrowth
	let lastAt = -Infinity
	let notBefore = 0
	let refusedAt = 0
	let last: Promise<unknown> = Promise.resolve()

	async function after(earlier: Promise<unknown>) {
		await earlier
		for (;;) {
			const now = performance.now()
			if (notBefore - now > longestWaitMs) return { waitMs: notBefore - now }
			const waitMs = Math.max(notBefore, lastAt + intervalMs) - now
			if (waitMs <= 0) return { startedAt: (lastAt = now) }
			await sleep(waitMs)
		}
	}

	return {
		turn() {
			const mine = after(last)
			last = mine
			return mine
		},
		heard(startedAt, { isRefused, waitMs }) {
			const now = performance.now()
			if (isRefused || waitMs !== null)
				notBefore = Math.max(notBefore, now + Math.min(waitMs ?? defaultPauseMs, longestPauseMs))
			if (!isRefused) {
				intervalMs /= factor
				if (intervalMs < 1) intervalMs = 0
				return
			}
			// Requests under way at the same time are refused together, so they count as one refusal.
			if (startedAt < refusedAt) return
			refusedAt = now
			factor = growth
			intervalMs = Math.min(Math.max(intervalMs, firstIntervalMs) * slowdown, longestIntervalMs)
		},
	}
}
