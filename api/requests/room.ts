import { overloaded } from './overload.ts'

export interface RoomLimits {
	/** What all that are in it may hold at a time; who alone holds more comes in when it is empty. */
	size: number
	/** How many may wait for it, and for how long. */
	waiting: number
	patienceMs: number
}

/**
 * Room for so much at a time, of memory or of work, in the order of asking: so that many who want much of
 * it come one after the other. Who has it gives it back; whose turn does not come soon is sent away.
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
				// Who is next may want less.
				callNext()
			}, patienceMs)
			function come() {
				clearTimeout(leave)
				resolve()
			}
			queue.add(waiter)
		})
	}

	/** They come in with what they hold already counted: nobody can take it in between. */
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
