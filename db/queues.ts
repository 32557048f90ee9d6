/**
 * Work with the same key is done one after the other, in order of arrival. At most `mostAtOnce` keys are worked on at a
 * time, and they take turns.
 */
export function createQueues(mostAtOnce: number) {
	const waiting = new Map<string, (() => void)[]>()
	const busy = new Set<string>()

	function startNext() {
		for (const [key, queue] of waiting) {
			if (busy.size >= mostAtOnce) return
			if (busy.has(key)) continue
			const start = queue.shift()!
			// The key's next work waits behind other keys.
			waiting.delete(key)
			if (queue.length > 0) waiting.set(key, queue)
			busy.add(key)
			start()
		}
	}

	return async function inQueue<T>(key: string, work: () => Promise<T>): Promise<T> {
		await new Promise<void>((start) => {
			const queue = waiting.get(key)
			if (queue) queue.push(start)
			else waiting.set(key, [start])
			startNext()
		})
		try {
			return await work()
		} finally {
			busy.delete(key)
			startNext()
		}
	}
}
