import { log } from '@temporalio/activity'
import type { Pool } from 'pg'
import { chores } from '../db/housekeeping.ts'
import { addPartitions, dropPartitions } from '../db/partitions.ts'
import { withHeartbeat } from './heartbeat.ts'

const pageRows = 2000

interface HousekeepingServices {
	pool: Pool
	settings: { bodyRetentionDays: number; ledgerRetentionDays?: number | undefined }
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
				const attempt = async (what: string, work: () => Promise<number>) => {
					try {
						const total = await work()
						if (total > 0) said.push(`${what}: ${total}`)
					} catch (error) {
						log.error('a housekeeping task failed', { what, error })
						said.push(`${what}: failed`)
					}
				}
				const { bodyRetentionDays, ledgerRetentionDays } = settings
				await attempt('tables of coming months', () => addPartitions(pool))
				if (ledgerRetentionDays)
					await attempt('tables of old months', () => dropPartitions(pool, ledgerRetentionDays))
				for (const { what, remove } of chores)
					await attempt(what, async () => {
						let total = 0
						for (let removed = pageRows; removed > 0 && !stopping.aborted; total += removed)
							removed = await remove(pool, pageRows, bodyRetentionDays)
						return total
					})
				return said.join(', ') || 'nothing was due'
			})
		},
	}
}
