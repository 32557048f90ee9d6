import type { Client } from '@temporalio/client'
import type { Pool } from 'pg'
import { reconcileSchedules } from '../db/automations/automation-schedules.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { createMissingSchedules } from './schedules.ts'
import { registerSearchAttributes } from './search-attributes.ts'

const everyMs = 300_000

interface Kept {
	pool: Pool
	temporal: Client
	log: { warn(fields: object, message: string): void }
	/** Whether search attributes could be registered at startup. */
	registers: boolean
}

/**
 * Gives Temporal what it should have every five minutes: search attributes, our Schedules, and those of
 * automations. A Temporal Schedule can't do this: it repairs the case that Temporal has lost its data. At
 * startup the worker has just seen to the first two.
 */
export function keepTemporal(kept: Kept) {
	void correct(kept, reconcile)
	const timer = setInterval(() => void compare(kept), everyMs)
	return { stop: () => clearInterval(timer) }
}

export const compare = (kept: Kept) =>
	correct(kept, async ({ temporal, log, registers }) => {
		// Without them, no run starts.
		if (registers) await registerSearchAttributes(temporal, log)
		return (await createMissingSchedules(temporal)) + (await reconcile(kept))
	})

const reconcile = ({ pool, temporal }: Kept) => reconcileSchedules(pool, temporal, taskQueues.core)

/** `work` returns how many Schedules it corrected. */
async function correct(kept: Kept, work: (kept: Kept) => Promise<number>) {
	const { log } = kept
	try {
		const count = await work(kept)
		if (count > 0)
			log.warn(
				{ count },
				'schedules in Temporal differed from what they should be and were corrected',
			)
	} catch (error) {
		log.warn({ err: error }, 'schedules in Temporal could not be compared with the database')
	}
}
