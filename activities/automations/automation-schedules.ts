import type { Client } from '@temporalio/client'
import type { Pool } from 'pg'
import { reconcileSchedules } from '../../db/automations/automation-schedules.ts'
import { taskQueues } from '../../workflows/task-queues.ts'

const everyMs = 300_000

/**
 * Compares the Schedules of automations with their rows, at the start and every five minutes. Not by a
 * Schedule itself: what it makes good is that Temporal has lost them.
 */
export function keepAutomationSchedules(
	pool: Pool,
	temporal: Pick<Client, 'schedule'>,
	log: { warn(fields: object, message: string): void },
) {
	async function compare() {
		try {
			const count = await reconcileSchedules(pool, temporal, taskQueues.core)
			if (count > 0) log.warn({ count }, 'Schedules of automations were not as their rows say')
		} catch (error) {
			log.warn({ err: error }, 'the Schedules of automations could not be compared')
		}
	}

	void compare()
	const timer = setInterval(() => void compare(), everyMs)
	return { stop: () => clearInterval(timer) }
}
