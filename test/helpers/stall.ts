import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMeter } from './cpu.ts'

/**
 * The longest block of this thread's event loop while `run` ran, in milliseconds of CPU time. It counts the
 * collection of the garbage that `run` makes, but not of the garbage that earlier measurements left. It looks once
 * a millisecond: looking at each turn would keep a processor busy, and collect the garbage of looking.
 */
export async function longestStall(run: () => Promise<unknown>) {
	globalThis.gc!()
	let isDone = false
	let longest = 0
	const done = run().finally(() => {
		isDone = true
	})
	while (!isDone) {
		const used = cpuMeter()
		await sleep(1)
		longest = Math.max(longest, used())
	}
	await done
	return longest
}
