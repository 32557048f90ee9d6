/** At most `count` have a place at a time; the others wait in order of arrival. */
export function createPlaces(count: number) {
	const waiting: (() => void)[] = []
	let free = count
	return {
		async enter() {
			if (free > 0) free -= 1
			else await new Promise<void>((go) => waiting.push(go))
		},
		leave() {
			const next = waiting.shift()
			if (next) next()
			else free += 1
		},
	}
}

/** At most `count` tasks run at a time; the others wait in order of arrival. */
export function createLimiter(count: number) {
	const places = createPlaces(count)
	return async function limited<T>(work: () => Promise<T>): Promise<T> {
		await places.enter()
		try {
			return await work()
		} finally {
			places.leave()
		}
	}
}
