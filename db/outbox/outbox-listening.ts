import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'

const againMs = 1000

/**
 * Hears of outbox rows that triggers have written, so that nobody has to wait for the sweep: who inserts
 * an event does not know whether it wakes anybody. Holds one connection, and gets another when it breaks.
 */
export function listenToOutbox(
	pool: Pool,
	wake: () => void,
	log: { warn(fields: object, message: string): void },
) {
	const stopping = new AbortController()
	const running = run()

	async function run() {
		while (!stopping.signal.aborted)
			try {
				await listen(await pool.connect())
			} catch (error) {
				if (stopping.signal.aborted) return
				log.warn({ err: error }, 'the outbox is not heard, only swept')
				await sleep(againMs, undefined, { signal: stopping.signal }).catch(() => {})
			}
	}

	/** Until the connection breaks, or we stop. */
	async function listen(db: PoolClient) {
		const broken = Promise.withResolvers<never>()
		const stopped = () => broken.reject(new Error('stopped'))
		stopping.signal.addEventListener('abort', stopped)
		db.on('error', broken.reject)
		db.on('end', () => broken.reject(new Error('the connection was closed')))
		db.on('notification', wake)
		try {
			if (stopping.signal.aborted) return
			await db.query('listen outbox')
			// What was written before we listened.
			wake()
			await broken.promise
		} finally {
			stopping.signal.removeEventListener('abort', stopped)
			db.release(true)
		}
	}

	return {
		async stop() {
			stopping.abort()
			await running
		},
	}
}
