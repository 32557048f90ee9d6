/** Whether there are more than `most` values in it, of any kind and depth. It stops counting there. */
export function hasMoreValues(value: unknown, most: number) {
	let count = 0
	const waiting = [value]
	while (waiting.length > 0) {
		const next = waiting.pop()
		if (++count > most) return true
		if (typeof next === 'object' && next !== null)
			for (const inner of Object.values(next)) waiting.push(inner)
	}
	return false
}
