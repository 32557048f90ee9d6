import { setImmediate as turn } from 'node:timers/promises'
import { cpuMeter } from './cpu.ts'

/** The longest block of this thread's event loop while `run` ran, in milliseconds of CPU time. */
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
