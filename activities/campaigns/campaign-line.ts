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

/** So many at once, the others in the order in which they come. */
export function createLines(count: number) {
	const waiting: (() => void)[] = []
	let free = count
	return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
		if (free > 0) free -= 1
		else await new Promise<void>((go) => waiting.push(go))
		try {
			return await work()
		} finally {
			const next = waiting.shift()
			if (next) next()
			else free += 1
		}
	}
}
