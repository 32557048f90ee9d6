/** The same numbers each time, so that a failure can be repeated. */
export function randomFrom(seed: number) {
	let state = seed
	const next = () => {
		state = (state + 0x6d2b79f5) | 0
		let t = Math.imul(state ^ (state >>> 15), 1 | state)
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
		return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
	}
	const below = (count: number) => Math.floor(next() * count)
	const one = <T>(list: readonly T[]) => list[below(list.length)]!
	return { next, below, one }
}

export type Random = ReturnType<typeof randomFrom>
