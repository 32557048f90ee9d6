import { log } from '@temporalio/activity'
import type { Pool } from 'pg'
import { chores } from '../db/housekeeping.ts'
import { beating } from './beating.ts'

const pageRows = 2000

interface HousekeepingServices {
	pool: Pool
	settings: { bodyRetentionDays: number }
	stopping: AbortSignal
}

export function housekeepingActivities({ pool, settings, stopping }: HousekeepingServices) {
	return {
		/** Says what it removed. A second try takes what is left; a chore that fails keeps no other from its turn. */
		async keepHouse(): Promise<string> {
			return beating(async () => {
				const said: string[] = []
				for (const { what, remove, byAge } of chores) {
					const values = byAge ? [pageRows, settings.bodyRetentionDays] : [pageRows]
					let total = 0
					try {
						for (let removed = pageRows; removed > 0 && !stopping.aborted; total += removed)
							removed = (await remove(pool, values))[0]!.removed
					} catch (error) {
						log.error('a chore failed', { what, error })
						said.push(`${what}: failed`)
					}
					if (total > 0) said.push(`${what}: ${total}`)
				}
				return said.join(', ') || 'nothing was due'
			})
		},
	}
}
