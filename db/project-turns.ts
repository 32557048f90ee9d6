interface Limits {
	atOnce: number
	/** Of one project; fewer than at once, so that a slot stays free for others. */
	ofProject: number
	/** How many of a project may wait, and for how long. */
	waiting: number
	patienceMs: number
}

/** Others of the project are waiting already, or it has waited too long. */
export class TurnsBusy extends Error {
	override name = 'TurnsBusy'
}

interface Queue {
	running: number
	waiting: Set<() => void>
}

/** Admits a few pieces of work at once. Projects take turns, however many pieces each has waiting. */
export function createProjectTurns({ atOnce, ofProject, waiting, patienceMs }: Limits) {
	const queues = new Map<string, Queue>()
	let running = 0

	return async function inTurn<T>(projectId: string, work: () => Promise<T>): Promise<T> {
		const queue = queues.get(projectId) ?? { running: 0, waiting: new Set() }
		queues.set(projectId, queue)
		if (running < atOnce && queue.running < ofProject) admit(queue)
		else await turn(queue)
		try {
			return await work()
		} finally {
			running -= 1
			queue.running -= 1
			admitNext()
			if (queue.running === 0 && queue.waiting.size === 0) queues.delete(projectId)
		}
	}

	function turn(queue: Queue) {
		if (queue.waiting.size >= waiting) throw new TurnsBusy('Too many are waiting')
		return new Promise<void>((resolve, reject) => {
			const leave = setTimeout(() => {
				queue.waiting.delete(come)
				reject(new TurnsBusy('This has waited too long'))
			}, patienceMs)
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

	/** From the project with the fewest running pieces, and of those with as few, the one admitted longest ago. */
	function admitNext() {
		const [next] = [...queues]
			.filter(([, queue]) => queue.waiting.size > 0 && queue.running < ofProject)
			.toSorted(([, one], [, other]) => one.running - other.running)
		if (!next) return
		const [projectId, queue] = next
		const [come] = queue.waiting
		queue.waiting.delete(come!)
		admit(queue)
		queues.delete(projectId)
		queues.set(projectId, queue) // behind the others
		come!()
	}
}
