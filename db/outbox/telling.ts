import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { inTime } from '../in-time.ts'
import { text } from '../sql-types.ts'
import { statement } from '../statement.ts'
import type { Relay } from './relay.ts'

/** The channel in which the relays listen: see outbox-listening.ts. */
export const outboxChannel = 'outbox'
/** Says that nothing but sends is waiting. Any other message is about all rows. A number may follow: see reactsFirst. */
export const onlySends = 'sends'

/** When an API is busy, one message covers many requests. */
const restMs = 3
/** A connection that has fallen silent must not keep later messages back: they take another one. */
const longestMs = 1000

/** The commit need not be durable: the relays also look every second. */
const tell = statement('tell-relays', {
	params: { message: text },
	text: `select set_config('synchronous_commit', 'off', true), pg_notify('${outboxChannel}', $message)`,
})

interface Services {
	pool: Pool
	log: { warn(fields: object, message: string): void }
}

/** Wakes the relays, which run in the workers. */
export function tellRelays({ pool, log }: Services): Relay {
	const messages = new Set<string>()
	let telling: Promise<void> | null = null
	let told = 0

	async function tellAll() {
		try {
			for (const message of messages) {
				messages.delete(message)
				const isTold = tell(pool, { message: `${message} ${told++}` }).then(() => true)
				if (!(await inTime(longestMs, isTold))) throw new Error('Postgres does not answer')
				await sleep(restMs)
			}
		} catch (error) {
			// The database is unavailable; the relays will look by themselves.
			messages.clear()
			log.warn({ err: error }, 'the workers could not be told')
		} finally {
			telling = null
		}
	}

	function add(message: string) {
		messages.add(message)
		telling ??= tellAll()
	}

	return {
		wake: () => add('all'),
		wakeSends: () => add(onlySends),
		stop: async () => void (await telling),
	}
}
