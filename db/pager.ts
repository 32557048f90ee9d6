const first = 3000
const most = 20_000
/** A page that takes less is followed by one of twice its size, and one that takes more by one of half. */
const shortMs = 500
const longMs = 2000

/**
 * Reads contacts page by page where a condition decides how long that takes: each time with the number of contacts
 * that is a short statement, whatever the condition. A page that `read` finds too long, with null, is read again as a
 * smaller one. null: even one contact takes too long.
 */
export function createPager() {
	let size = first
	return async function page<T>(read: (contacts: number) => Promise<T>): Promise<T> {
		for (;;) {
			const contacts = size
			const beganAt = performance.now()
			const found = await read(contacts)
			const ms = performance.now() - beganAt
			if (found === null || ms > longMs) size = Math.max(1, Math.ceil(size / 2))
			else if (ms < shortMs) size = Math.min(most, size * 2)
			if (found !== null || contacts === 1) return found
		}
	}
}
