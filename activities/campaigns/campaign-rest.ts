/** Of the time between two rests, while single mails pass. What was claimed before goes on in a rest. */
const share = 0.2
/** A worker that is less busy in this time needs no rest. */
const lookMs = 30
const longestMs = 100

/**
 * Keeps a campaign from filling the machine while single mails pass: those need the processors several times on their
 * way, in all processes, and wait each time. A worker whose provider is the limit is idle in between, and never rests.
 */
export function createRest(singlesPass: () => boolean, end: () => void) {
	let looked = performance.eventLoopUtilization()
	let isResting = false

	/** Whether to claim nothing now. Calls `end` when that is over. */
	return function isDue(): boolean {
		if (isResting || !singlesPass()) return isResting
		const { active, idle } = performance.eventLoopUtilization(looked)
		const ms = active + idle
		if (ms < lookMs) return false
		const restMs = Math.min(longestMs, active / share - ms)
		isResting = restMs > 0
		if (isResting) setTimeout(wake, restMs)
		else looked = performance.eventLoopUtilization()
		return isResting
	}

	function wake() {
		isResting = false
		looked = performance.eventLoopUtilization()
		end()
	}
}
