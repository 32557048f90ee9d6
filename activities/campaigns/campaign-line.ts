/** One after the other, by key. */
export function createLine() {
	const last = new Map<string, Promise<unknown>>()
	return async function inLine<T>(key: string, work: () => Promise<T>): Promise<T> {
		const mine = (last.get(key) ?? Promise.resolve()).then(work, work)
		last.set(key, mine)
		try {
			return await mine
		} finally {
			if (last.get(key) === mine) last.delete(key)
		}
	}
}
