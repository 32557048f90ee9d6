import { setTimeout as sleep } from 'node:timers/promises'

/** The result of the work. Undefined if it takes longer; the work then goes on. */
export async function inTime<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
	const waiting = new AbortController()
	try {
		return await Promise.race([work, sleep(ms, undefined, { signal: waiting.signal })])
	} finally {
		waiting.abort()
	}
}
