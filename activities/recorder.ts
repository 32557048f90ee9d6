import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { type AttemptEnd, record } from '../db/ledger.ts'

/** How long outcomes that we know are held in memory while the database is away. */
const holdMs = 60_000
const groupingMs = 5

/**
 * Writes the ends of attempts, those that came together in one statement. The database may be away for
 * a while: what is known must not turn into doubt, so it is tried again for a minute.
 */
export function createRecorder(pool: Pool, projectId: string) {
	let waiting: { end: AttemptEnd; done: () => void; failed: (error: unknown) => void }[] = []
	let writing = false

	async function write() {
		writing = true
		while (waiting.length > 0) {
			const batch = waiting
			waiting = []
			try {
				const ends = JSON.stringify(batch.map(({ end }) => end))
				await insist(() => record(pool, [projectId, ends]))
				for (const { done } of batch) done()
			} catch (error) {
				for (const { failed } of batch) failed(error)
			}
		}
		writing = false
	}

	return {
		/** Resolves once it is in the ledger. `alone`: nothing else is under way that could join it. */
		record: (end: AttemptEnd, alone: boolean) =>
			new Promise<void>((done, failed) => {
				waiting.push({ end, done, failed })
				if (writing) return
				if (alone) return void write()
				writing = true
				setTimeout(() => void write(), groupingMs)
			}),
	}
}

/** Tries to write for so long; then somebody else has to find out what became of these mails. */
export async function insist<T>(write: () => Promise<T>): Promise<T> {
	const giveUpAt = Date.now() + holdMs
	for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000))
		try {
			return await write()
		} catch (error) {
			if (Date.now() + pauseMs > giveUpAt) throw error
			await sleep(pauseMs)
		}
}
