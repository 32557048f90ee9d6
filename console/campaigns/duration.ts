const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** `about 3 min`: as exact as a reader needs. */
export function durationOf(seconds: number) {
	if (seconds < minute) return `${Math.max(seconds, 1)} s`
	if (seconds < hour) return `about ${Math.round(seconds / minute)} min`
	if (seconds < 2 * day) return `about ${Math.round(seconds / hour)} h`
	return `about ${Math.round(seconds / day)} days`
}
