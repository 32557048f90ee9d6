interface Limits {
	atOnce: number
	/** Of one key, for example a project; fewer than at once, so that a slot stays free for others. */
	ofOne: number
	/** How many of a key may wait, and for how long. */
	waiting: number
	patienceMs: number
	/** How many of all keys may wait. */
	waitingOfAll?: number
}

/** Too many others are waiting already, or it has waited too long. */
export class TurnsBusy extends Error {
	override name = 'TurnsBusy'
	/** Whether other work of the same key took the turns. */
	readonly isOwn: boolean

	constructor(message: string, isOwn: boolean) {
		super(message)
		this.isOwn = isOwn
	}
}

interface Queue {
	running: number
	waiting: Set<() => void>
}

/** Admits a few pieces of work at once. Keys take turns, however many pieces each has waiting. */
export function createFairTurns({
	atOnce,
	ofOne,
	waiting,
	patienceMs,
	waitingOfAll = Infinity,
}: Limits) {
	const queues = new Map<string, Queue>()
	let running = 0
	let waitingNow = 0

	return async function inTurn<T>(
		key: string,
		work: () => Promise<T>,
		patience = patienceMs,
	): Promise<T> {
		const queue = queues.get(key) ?? { running: 0, waiting: new Set() }
		queues.set(key, queue)
		if (running < atOnce && queue.running < ofOne) admit(queue)
		else await turn(queue, patience)
		try {
			return await work()
		} finally {
			running -= 1
			queue.running -= 1
			admitNext()
			if (queue.running === 0 && queue.waiting.size === 0) queues.delete(key)
		}
	}

	function turn(queue: Queue, patience: number) {
		const isFull = queue.waiting.size >= waiting
		if (isFull || waitingNow >= waitingOfAll) throw new TurnsBusy('Too many are waiting', isFull)
		waitingNow += 1
		return new Promise<void>((resolve, reject) => {
			const leave = setTimeout(() => {
				queue.waiting.delete(come)
				waitingNow -= 1
				reject(new TurnsBusy('This has waited too long', queue.running >= ofOne))
			}, patience)
			function come() {
				clearTimeout(leave)
				resolve()
			}
			queue.waiting.add(come)
		})
	}

	/** It is counted before it is called, so that no other takes its slot in between. */
	function admit(queue: Queue) {
		running += 1
		queue.running += 1
	}

	/** From the key with the fewest running pieces, and of those with as few, the one admitted longest ago. */
	function admitNext() {
		const [next] = [...queues]
			.filter(([, queue]) => queue.waiting.size > 0 && queue.running < ofOne)
			.toSorted(([, one], [, other]) => one.running - other.running)
		if (!next) return
		const [key, queue] = next
		const [come] = queue.waiting
		queue.waiting.delete(come!)
		waitingNow -= 1
		admit(queue)
		queues.delete(key)
		queues.set(key, queue) // behind the others
		come!()
	}
}
