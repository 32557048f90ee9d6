import { overloaded } from '../errors.ts'

export interface RoomLimits {
	/** The limit for all users together. A single larger one is admitted when the room is empty. */
	size: number
	/** How many may wait, and for how long. */
	waiting: number
	patienceMs: number
}

/**
 * Room for a limited amount of memory or work, granted in order of request, so that large users take
 * turns. Users return their share; those that would wait too long are refused.
 */
export function createRoom({ size, waiting, patienceMs }: RoomLimits, refusal = overloaded) {
	let held = 0
	const queue = new Set<{ wanted: number; come: () => void }>()

	return async function take(wanted: number): Promise<() => void> {
		if (queue.size > 0 || !hasRoomFor(wanted)) await turn(wanted)
		else held += wanted
		let isHeld = true
		return function giveBack() {
			if (isHeld) held -= wanted
			isHeld = false
			callNext()
		}
	}

	function turn(wanted: number) {
		if (queue.size >= waiting) throw refusal()
		return new Promise<void>((resolve, reject) => {
			const waiter = { wanted, come }
			const leave = setTimeout(() => {
				queue.delete(waiter)
				reject(refusal())
				// The next one may want less.
				callNext()
			}, patienceMs)
			function come() {
				clearTimeout(leave)
				resolve()
			}
			queue.add(waiter)
		})
	}

	/** Their shares are counted before they are called, so that nobody can take them in between. */
	function callNext() {
		for (const waiter of queue) {
			if (!hasRoomFor(waiter.wanted)) return
			queue.delete(waiter)
			held += waiter.wanted
			waiter.come()
		}
	}

	function hasRoomFor(wanted: number) {
		return held === 0 || held + wanted <= size
	}
}
