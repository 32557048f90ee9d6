import { log } from '@temporalio/activity'
import type { Pool } from 'pg'
import { chores } from '../db/housekeeping.ts'
import { withHeartbeat } from './heartbeat.ts'

const pageRows = 2000

interface HousekeepingServices {
	pool: Pool
	settings: { bodyRetentionDays: number }
	stopping: AbortSignal
}

export function housekeepingActivities({ pool, settings, stopping }: HousekeepingServices) {
	return {
		/**
		 * Returns what it deleted. A second try deletes the rest. A chore that fails does not stop the others.
		 */
		async keepHouse(): Promise<string> {
			return withHeartbeat(async () => {
				const said: string[] = []
				for (const { what, remove } of chores) {
					let total = 0
					try {
						for (let removed = pageRows; removed > 0 && !stopping.aborted; total += removed)
							removed = await remove(pool, pageRows, settings.bodyRetentionDays)
					} catch (error) {
						log.error('a housekeeping task failed', { what, error })
						said.push(`${what}: failed`)
					}
					if (total > 0) said.push(`${what}: ${total}`)
				}
				return said.join(', ') || 'nothing was due'
			})
		},
	}
}
