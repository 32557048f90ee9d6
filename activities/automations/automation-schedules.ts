import type { Client } from '@temporalio/client'
import type { Pool } from 'pg'
import { reconcileSchedules } from '../../db/automations/automation-schedules.ts'
import { taskQueues } from '../../workflows/task-queues.ts'

const everyMs = 300_000

/**
 * Compares the Schedules of automations with their rows, at startup and every five minutes. A Temporal
 * Schedule can't do this: it repairs the case that Temporal has lost its Schedules.
 */
export function keepAutomationSchedules(
	pool: Pool,
	temporal: Pick<Client, 'schedule'>,
	log: { warn(fields: object, message: string): void },
) {
	async function compare() {
		try {
			const count = await reconcileSchedules(pool, temporal, taskQueues.core)
			if (count > 0)
				log.warn({ count }, 'schedules in Temporal differed from the database and were corrected')
		} catch (error) {
			log.warn({ err: error }, 'schedules in Temporal could not be compared with the database')
		}
	}

	void compare()
	const timer = setInterval(() => void compare(), everyMs)
	return { stop: () => clearInterval(timer) }
}
