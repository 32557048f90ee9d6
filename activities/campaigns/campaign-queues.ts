export type Places = ReturnType<typeof createPlaces>

/**
 * At most `count` have a place at a time, and of one group at most `ofOne`; the others wait in order of arrival.
 */
export function createPlaces(count: number, ofOne = count) {
	const held = new Map<string, number>()
	let waiting: { group: string; go: () => void }[] = []
	let free = count

	const hasRoom = (group: string) => free > 0 && (held.get(group) ?? 0) < ofOne

	function take(group: string) {
		free -= 1
		held.set(group, (held.get(group) ?? 0) + 1)
	}

	function serve() {
		waiting = waiting.filter(({ group, go }) => {
			if (!hasRoom(group)) return true
			take(group)
			go()
			return false
		})
	}

	return {
		async enter(group: string) {
			if (hasRoom(group)) take(group)
			else await new Promise<void>((go) => waiting.push({ group, go }))
		},
		leave(group: string) {
			free += 1
			const left = held.get(group)! - 1
			if (left > 0) held.set(group, left)
			else held.delete(group)
			serve()
		},
	}
}

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
