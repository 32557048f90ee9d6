import { setImmediate as turn } from 'node:timers/promises'
import { cpuMeter } from './cpu.ts'

/** The longest time in which the event loop of this thread did not turn while something ran, in milliseconds of processor time. */
export async function longestStall(run: () => Promise<unknown>) {
	let isDone = false
	let longest = 0
	const done = run().finally(() => {
		isDone = true
	})
	while (!isDone) {
		const used = cpuMeter()
		await turn()
		longest = Math.max(longest, used())
	}
	await done
	return longest
}
