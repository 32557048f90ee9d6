import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { text } from '../sql-types.ts'
import { statement } from '../statement.ts'
import type { Relay } from './relay.ts'

/** The channel in which the relays listen: see outbox-listening.ts. */
export const outboxChannel = 'outbox'
/** Says that nothing but sends is waiting. Any other message is about all rows. */
export const onlySends = 'sends'

/** When an API is busy, one message covers many requests. */
const restMs = 3

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

	async function tellAll() {
		try {
			for (const message of messages) {
				messages.delete(message)
				await tell(pool, { message })
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
