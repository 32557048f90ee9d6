import { overloaded } from './overload.ts'

export interface RoomLimits {
	/** What all that are in it may hold at a time; who alone holds more comes in when it is empty. */
	bytes: number
	/** How many may wait for it, and for how long. */
	waiting: number
	patienceMs: number
}

/**
 * Room in the memory of this process, in the order of asking: so that many who want much of it come one
 * after the other. Who has it gives it back; whose turn does not come soon is sent away with 503.
 */
export function createRoom({ bytes: size, waiting, patienceMs }: RoomLimits) {
	let held = 0
	const queue = new Set<{ bytes: number; come: () => void }>()

	return async function take(bytes: number): Promise<() => void> {
		if (queue.size > 0 || !hasRoomFor(bytes)) await turn(bytes)
		else held += bytes
		let isHeld = true
		return function giveBack() {
			if (isHeld) held -= bytes
			isHeld = false
			callNext()
		}
	}

	function turn(bytes: number) {
		if (queue.size >= waiting) throw overloaded()
		return new Promise<void>((resolve, reject) => {
			const waiter = { bytes, come }
			const leave = setTimeout(() => {
				queue.delete(waiter)
				reject(overloaded())
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
			if (!hasRoomFor(waiter.bytes)) return
			queue.delete(waiter)
			held += waiter.bytes
			waiter.come()
		}
	}

	function hasRoomFor(bytes: number) {
		return held === 0 || held + bytes <= size
	}
}
