import { setTimeout as sleep } from 'node:timers/promises'

/** A provider that says nothing about its limit is asked so often at first. */
const firstIntervalMs = 100
/** Until the first refusal, each answer shortens the interval by this factor; a second later there is none. */
const firstGrowth = 1.1
/** After a refusal it is shortened slowly, so that few requests in a hundred are refused. */
const growth = 1.01
const slowdown = 1.4
const longestIntervalMs = 10_000
const defaultPauseMs = 1000
const longestPauseMs = 60_000

/** What an answer says about the rate of requests. */
export interface PaceAnswer {
	isRefused: boolean
	/** Nothing should be asked before; null: it does not say. */
	waitMs: number | null
}

export interface RequestPace {
	/** Resolves when the next request may leave, with the moment. */
	turn(): Promise<number>
	/** The answer to the request that left at `startedAt`. */
	heard(startedAt: number, answer: PaceAnswer): void
}

/** Learns how many requests a second a provider takes, for all who ask it. */
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
			const waitMs = Math.max(notBefore, lastAt + intervalMs) - now
			if (waitMs <= 0) return (lastAt = now)
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
			// Requests that were under way together are refused together: they count as one.
			if (startedAt < refusedAt) return
			refusedAt = now
			factor = growth
			intervalMs = Math.min(Math.max(intervalMs, firstIntervalMs) * slowdown, longestIntervalMs)
		},
	}
}
