import { setImmediate as nextTurn } from 'node:timers/promises'

/** After this time, deferrable work leaves the event loop to others until the next turn. */
const mostMs = 8

let beganAt: number | undefined

/**
 * Whether this turn of the event loop has used its time. The time is measured from the first call in a
 * turn.
 */
export function isTurnOver() {
	if (beganAt === undefined) {
		beganAt = performance.now()
		setImmediate(() => (beganAt = undefined))
	}
	return performance.now() - beganAt > mostMs
}

/** Returns in a turn of the event loop that has time left. */
export async function takeTurn() {
	while (isTurnOver()) await nextTurn()
}
