const first = 3000
const most = 20_000
/** A page that takes less is followed by one of twice its size, and one that takes more by one of half. */
const shortMs = 500
const longMs = 2000

/**
 * Reads contacts page by page where a condition decides how long that takes: each time with the number of contacts
 * that is a short statement, whatever the condition. null: it took too long, so the next page is smaller.
 */
export function createPager() {
	let size = first
	return async function page<T>(read: (contacts: number) => Promise<T>): Promise<T> {
		const beganAt = performance.now()
		const found = await read(size)
		const ms = performance.now() - beganAt
		if (found === null || ms > longMs) size = Math.max(1, Math.ceil(size / 2))
		else if (ms < shortMs) size = Math.min(most, size * 2)
		return found
	}
}
