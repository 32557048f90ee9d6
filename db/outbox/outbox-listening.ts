import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { Relay } from './relay.ts'
import { onlySends, outboxChannel } from './telling.ts'

const againMs = 1000
/** Long enough for the first worker to claim the rows, and too short for anyone to notice if it doesn't. */
export const othersWaitMs = 50

interface Services {
	pool: Pool
	relay: Pick<Relay, 'wake' | 'wakeSends'>
	/** Whether this worker is the first to react to the message of this number: see worker-heartbeat.ts. */
	reactsFirst: (message: number) => boolean
	log: { warn(fields: object, message: string): void }
}

/**
 * Listens for outbox rows, so that they need not wait for the sweep. An API tells of those that it wrote. Triggers tell of
 * the others: the writer of an event doesn't know whether it wakes an execution. All workers hear a message, and one of
 * them reacts at once. The others look a moment later, in case it is busy or gone: if all looked at once, they would
 * only be in each other's way. Uses one connection, and opens another when it breaks.
 */
export function listenToOutbox({ pool, relay, reactsFirst, log }: Services) {
	const later = {
		wake: postponed(() => relay.wake()),
		wakeSends: postponed(() => relay.wakeSends()),
	}
	const stopping = new AbortController()
	const running = run()

	async function run() {
		while (!stopping.signal.aborted)
			try {
				await listen(await pool.connect())
			} catch (error) {
				if (stopping.signal.aborted) return
				log.warn({ err: error }, 'outbox notifications are off, so the outbox is only polled')
				await sleep(againMs, undefined, { signal: stopping.signal }).catch(() => {})
			}
	}

	/** Resolves when the connection breaks, or at the stop. */
	async function listen(db: PoolClient) {
		const broken = Promise.withResolvers<never>()
		// It may break before anyone waits for it, also while `listen` is refused.
		broken.promise.catch(() => {})
		const stopped = () => broken.reject(new Error('stopped'))
		stopping.signal.addEventListener('abort', stopped)
		db.on('error', broken.reject)
		db.on('end', () => broken.reject(new Error('the connection was closed')))
		// Triggers give their messages no number.
		db.on('notification', ({ payload = '', processId }) => {
			const [what, number = processId] = payload.split(' ')
			const woken = reactsFirst(Number(number)) ? relay : later
			if (what === onlySends) woken.wakeSends()
			else woken.wake()
		})
		try {
			if (stopping.signal.aborted) return
			await db.query(`listen ${outboxChannel}`)
			// Rows may have been written before we listened.
			relay.wake()
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

/** However often it is called meanwhile, the work is done once. */
function postponed(work: () => void) {
	let isWaiting = false
	return () => {
		if (isWaiting) return
		isWaiting = true
		setTimeout(() => {
			isWaiting = false
			work()
		}, othersWaitMs)
	}
}
