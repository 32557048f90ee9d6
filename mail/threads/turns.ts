/** A key that has recently used more thread time than this leaves one thread to the others. */
const heavyMs = 1000
/** The recorded use of a key halves in this time. */
const halfLifeMs = 10_000
const mostKnownKeys = 10_000

interface Turn<Job> {
	job: Job
	end(usedMs: number): void
}

interface Use {
	ms: number
	at: number
}

/**
 * Picks the next job. Waiting keys take turns, however many jobs each has. Keys with much recent use never
 * occupy all threads together, so a new key finds one free.
 */
export function createTurns<Job>(size: number) {
	const queues = new Map<string, Job[]>()
	const uses = new Map<string, Use>()
	let waiting = 0
	let heavy = 0

	const usedMs = (key: string) => {
		const use = uses.get(key)
		return use ? use.ms * 0.5 ** ((performance.now() - use.at) / halfLifeMs) : 0
	}

	function note(key: string, ms: number) {
		const sum = usedMs(key) + ms
		uses.delete(key)
		uses.set(key, { ms: sum, at: performance.now() })
		if (uses.size > mostKnownKeys) uses.delete(uses.keys().next().value!)
	}

	return {
		waiting: () => waiting,
		add(key: string, job: Job) {
			waiting += 1
			const queue = queues.get(key)
			if (queue) queue.push(job)
			else queues.set(key, [job])
		},
		next(): Turn<Job> | undefined {
			for (const [key, queue] of queues) {
				const isHeavy = usedMs(key) > heavyMs
				if (isHeavy && heavy >= size - 1) continue
				const job = queue.shift()!
				waiting -= 1
				queues.delete(key)
				if (queue.length > 0) queues.set(key, queue) // behind the others
				if (isHeavy) heavy += 1
				const end = (ms: number) => {
					if (isHeavy) heavy -= 1
					note(key, ms)
				}
				return { job, end }
			}
			return undefined
		},
		clear() {
			const left = [...queues.values()].flat()
			queues.clear()
			waiting = 0
			return left
		},
	}
}
