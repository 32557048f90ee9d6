interface GroupOptions<Item, Result> {
	/** Returns a result for each item, in their order. */
	work(key: string, items: Item[]): Promise<Result[]>
	/** How many groups of a key are under way at once. */
	atOnce: number
	mostItems: number
}

interface Waiting<Item, Result> {
	item: Item
	resolve(result: Result): void
	reject(error: unknown): void
}

interface Line<Item, Result> {
	waiting: Waiting<Item, Result>[]
	underWay: number
	isStarting: boolean
}

/** A group that takes longer, for example because it waits for a lock, no longer holds others up. */
const patienceMs = 100

/**
 * Does the work of several callers at once. While few are calling, each call is a group of its own and
 * starts at once. While many are, calls with the same key wait for a group under way to end, and together
 * become the next one. A call never joins work that began before the call.
 */
export function inGroups<Item, Result>({ work, atOnce, mostItems }: GroupOptions<Item, Result>) {
	const lines = new Map<string, Line<Item, Result>>()

	function startSoon(key: string, line: Line<Item, Result>) {
		if (line.isStarting || line.waiting.length === 0 || line.underWay >= atOnce) return
		line.isStarting = true
		// Calls of the same turn of the event loop go together.
		setImmediate(() => {
			line.isStarting = false
			void perform(key, line)
			startSoon(key, line)
		})
	}

	async function perform(key: string, line: Line<Item, Result>) {
		const group = line.waiting.splice(0, mostItems)
		line.underWay += 1
		let isCounted = true
		const uncount = () => {
			if (!isCounted) return
			isCounted = false
			line.underWay -= 1
			startSoon(key, line)
		}
		const timer = setTimeout(uncount, patienceMs)
		try {
			const items = group.map(({ item }) => item)
			const results = await work(key, items)
			for (const [index, { resolve }] of group.entries()) resolve(results[index]!)
		} catch (error) {
			for (const { reject } of group) reject(error)
		} finally {
			clearTimeout(timer)
			uncount()
			if (line.underWay === 0 && line.waiting.length === 0) lines.delete(key)
		}
	}

	return (key: string, item: Item) =>
		new Promise<Result>((resolve, reject) => {
			const line = lines.get(key) ?? { waiting: [], underWay: 0, isStarting: false }
			lines.set(key, line)
			line.waiting.push({ item, resolve, reject })
			startSoon(key, line)
		})
}
