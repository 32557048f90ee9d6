import { ApiError } from '../errors.ts'

const mostSubjects = 50_000

/** Counts per subject in the current minute, within this process. */
export function countByMinute() {
	const counts = new Map<string, number>()
	let endsAt = 0

	function of(subject: string) {
		const now = performance.now()
		if (now >= endsAt) {
			counts.clear()
			endsAt = now + 60_000
		}
		return counts.get(subject) ?? 0
	}

	function add(subject: string) {
		const count = of(subject) + 1
		if (count === 1 && counts.size >= mostSubjects) counts.delete(counts.keys().next().value!)
		counts.set(subject, count)
		return count
	}

	return {
		of,
		add,
		secondsLeft: () => Math.max(1, Math.ceil((endsAt - performance.now()) / 1000)),
	}
}

export const tooMany = (message: string, retryAfterSeconds: number) =>
	new ApiError(429, 'RATE_LIMIT_EXCEEDED', message, {
		details: { retryAfter: retryAfterSeconds },
		suggestion: 'Wait for the number of seconds in the Retry-After header.',
		retryAfterSeconds,
	})
