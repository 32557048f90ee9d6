const first = 3000
const most = 20_000
/** A page that takes less is followed by one of twice its size, and one that takes more by one of half. */
const shortMs = 500
const longMs = 2000

/**
 * The number of contacts to read at once where a condition decides how long that takes: so that a page is a short
 * statement whatever the condition.
 */
export function createPageSize() {
	let size = first
	return {
		now: () => size,
		took(ms: number) {
			if (ms < shortMs) size = Math.min(most, size * 2)
			else if (ms > longMs) size = Math.max(1, Math.ceil(size / 2))
		},
	}
}
