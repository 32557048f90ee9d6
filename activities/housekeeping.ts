import { log } from '@temporalio/activity'
import type { Pool } from 'pg'
import { activitiesOfMails, bodies, type Chore, chores } from '../db/housekeeping.ts'
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
		 * Returns what it deleted. A second try deletes the rest. A chore that fails does not stop the others. The months
		 * come last: files of mails are found through the mails, so they go before them.
		 */
		async keepHouse(): Promise<string> {
			return withHeartbeat(async () => {
				const said: string[] = []
				const failed = new Set<string>()
				const attempt = async (what: string, work: () => Promise<number>) => {
					try {
						const total = await work()
						if (total > 0) said.push(`${what}: ${total}`)
					} catch (error) {
						log.error('a housekeeping task failed', { what, error })
						said.push(`${what}: failed`)
						failed.add(what)
					}
				}
				const clear = ({ what, remove }: Chore, days: number) =>
					attempt(what, async () => {
						let total = 0
						for (let removed = pageRows; removed > 0 && !stopping.aborted; total += removed)
							removed = await remove(pool, pageRows, days)
						return total
					})
				const { bodyRetentionDays, ledgerRetentionDays } = settings
				const bodyDays = Math.min(bodyRetentionDays, ledgerRetentionDays ?? Infinity)
				await attempt('tables of coming months', () => addPartitions(pool))
				for (const chore of chores) await clear(chore, bodyDays)
				if (ledgerRetentionDays) await clear(activitiesOfMails, ledgerRetentionDays)
				if (ledgerRetentionDays && !stopping.aborted && !failed.has(bodies.what))
					await attempt('tables of old months', () => dropPartitions(pool, ledgerRetentionDays))
				return said.join(', ') || 'nothing was due'
			})
		},
	}
}
