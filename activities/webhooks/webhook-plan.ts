const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** The waits between the tries of a delivery: eight tries within 28 hours. */
const waitsMs = [
	5 * secondMs,
	5 * minuteMs,
	30 * minuteMs,
	2 * hourMs,
	5 * hourMs,
	10 * hourMs,
	10 * hourMs,
]

/** Deliveries that failed together don't come back together. */
const jitter = 0.1
/** An endpoint's Retry-After beyond this is not honoured. */
const longestWaitMs = 24 * hourMs

/** After so many failures in a row without a success, one delivery at a time tries whether the endpoint is back. */
export const failuresUntilRest = 10
const restsMs = [5 * secondMs, minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs]

/** The wait after the given number of failed tries; null: the last one has failed. */
export function waitAfter(tries: number, retryAfterMs: number | null) {
	const wait = waitsMs[tries - 1]
	if (wait === undefined) return null
	return jittered(Math.max(wait, retryAfterMs ?? 0))
}

/** How long an endpoint is left alone; null: not at all. */
export function restAfter(failuresInRow: number, askedMs: number) {
	const beyond = failuresInRow - failuresUntilRest
	const rest = beyond < 0 ? 0 : restsMs[Math.min(beyond, restsMs.length - 1)]!
	const wait = Math.max(rest, askedMs)
	return wait === 0 ? null : jittered(wait)
}

const jittered = (ms: number) => Math.min(ms, longestWaitMs) * (1 + jitter * Math.random())

/** The header Retry-After has seconds or a date. */
export function retryAfterMs(header: string | null) {
	if (header === null) return null
	const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
	return Number.isNaN(ms) || ms <= 0 ? null : ms
}
