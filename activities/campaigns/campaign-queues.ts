/** At most `count` tasks run at a time; the others wait in order of arrival. */
export function createLimiter(count: number) {
	const waiting: (() => void)[] = []
	let free = count
	return async function limited<T>(work: () => Promise<T>): Promise<T> {
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
