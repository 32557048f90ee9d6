import type { Pool } from 'pg'
import { cancelCampaignsOf } from '../db/campaign-actions.ts'
import { cancelProjectExecutions } from '../db/execution-cancelling.ts'
import {
	countOpenRuns,
	deleteProjectRow,
	deleteRows,
	isBuried,
	tablesOfProjects,
} from '../db/project-removal.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { beating } from './beating.ts'

const rowsAtOnce = 2000
/** A page ends after so long, so that the run says how far it is. */
const pageMs = 20_000

export interface RemovedRows {
	removed: number
	isLast: boolean
}

interface ProjectServices {
	pool: Pool
	relay: { wake(): void }
}

export function projectActivities({ pool, relay }: ProjectServices) {
	return {
		/**
		 * Ends what a buried project has under way, and answers how much of that Temporal is still to be
		 * told: the rows are needed until then, or runs that wait for ever would never end.
		 */
		endProjectRuns: (projectId: string): Promise<number> =>
			beating(async () => {
				const [project] = await isBuried(pool, [projectId])
				if (!project) return 0
				if (!project.buried) throw stillThere()
				await cancelCampaignsOf(pool, [projectId, taskQueues.core])
				await cancelProjectExecutions(pool, projectId, 'Project deleted', taskQueues.core)
				relay.wake()
				const [open] = await countOpenRuns(pool, [projectId])
				return open!.count
			}),

		/** Takes rows of a buried project away, in small bites; the last page takes its own row. */
		removeProjectRows: (projectId: string): Promise<RemovedRows> =>
			beating(() => removePage(pool, projectId, Date.now() + pageMs)),
	}
}

async function removePage(pool: Pool, projectId: string, endsAt: number): Promise<RemovedRows> {
	const [project] = await isBuried(pool, [projectId])
	if (!project) return { removed: 0, isLast: true }
	if (!project.buried) throw stillThere()
	const tables = await tablesOfProjects(pool)
	let removed = 0
	for (;;) {
		const before = removed
		for (const table of tables)
			for (;;) {
				const count = await deleteRows(pool, table, projectId, rowsAtOnce)
				removed += count
				if (Date.now() > endsAt) return { removed, isLast: false }
				if (count < rowsAtOnce) break
			}
		// Rows of a table may leave notes in another; and workers may have been at work until now.
		if (removed === before) break
	}
	await deleteProjectRow(pool, [projectId])
	return { removed, isLast: true }
}

const stillThere = () => new Error('A project that somebody can reach keeps its rows')
