import { setTimeout as sleep } from 'node:timers/promises'
import type { Stack } from './stack.ts'

/** Kills and restarts the worker repeatedly at random moments. */
export const killWorker =
	(stack: Stack, times: number, everyMs: [least: number, most: number]) => async () => {
		for (let i = 0; i < times; i++) {
			await sleep(everyMs[0] + Math.random() * (everyMs[1] - everyMs[0]))
			await stack.worker.stop('SIGKILL')
			await stack.worker.start()
		}
	}

/** How often each mail is in a provider's list. */
export function tally(ids: Iterable<string | null>) {
	const taken = new Map<string, number>()
	for (const id of ids) if (id) taken.set(id, (taken.get(id) ?? 0) + 1)
	return taken
}
