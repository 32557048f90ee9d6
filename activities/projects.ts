import type { Pool } from 'pg'
import { cancelCampaignsOf } from '../db/campaigns/campaign-actions.ts'
import { cancelProjectExecutions } from '../db/executions/execution-cancelling.ts'
import { countCleanups } from '../db/outbox/cleanups.ts'
import {
	countOpenRuns,
	deleteProjectRow,
	deleteRows,
	isBuried,
	tablesOfProjects,
} from '../db/projects/project-removal.ts'
import { vacuum } from '../db/vacuum.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { withHeartbeat } from './heartbeat.ts'

const rowsAtOnce = 2000
/**
 * Deleted rows leave dead index entries. Foreign-key checks pass over each of them, so beyond this number
 * the table is vacuumed.
 */
const harmlessTraces = 10_000
/** A page ends after this time, so that the run reports its progress. */
const pageMs = 15_000
const errandWaitMs = 600_000

export interface RemovedRows {
	removed: number
	isLast: boolean
	/**
	 * Only cleanups are left. The project's row stays until they are done, so the run looks again after this
	 * time.
	 */
	waitMs?: number
}

interface ProjectServices {
	pool: Pool
	relay: { wake(): void }
	/** The process is stopping: another worker deletes the next page. */
	stopping: AbortSignal
}

export function projectActivities({ pool, relay, stopping }: ProjectServices) {
	return {
		/**
		 * Ends everything a deleted project has under way. Returns the number of runs that Temporal still has to
		 * end: their rows are needed until then, or waiting runs would never end.
		 */
		endProjectRuns: (projectId: string): Promise<number> =>
			withHeartbeat(async () => {
				const [project] = await isBuried(pool, { projectId })
				if (!project) return 0
				if (!project.buried) throw stillThere()
				await cancelCampaignsOf(pool, { projectId, taskQueue: taskQueues.core })
				await cancelProjectExecutions(pool, projectId, 'Project deleted', taskQueues.core)
				relay.wake()
				const [open] = await countOpenRuns(pool, { projectId })
				return open!.count
			}),

		/** Deletes rows of a deleted project, a few at a time. The last page deletes the project's own row. */
		removeProjectRows: (projectId: string): Promise<RemovedRows> =>
			withHeartbeat(() => {
				const endsAt = Date.now() + pageMs
				return removePage(pool, projectId, () => stopping.aborted || Date.now() >= endsAt)
			}),
	}
}

async function removePage(
	pool: Pool,
	projectId: string,
	isOver: () => boolean,
): Promise<RemovedRows> {
	const [project] = await isBuried(pool, { projectId })
	if (!project) return { removed: 0, isLast: true }
	if (!project.buried) throw stillThere()
	let removed = 0
	for (const table of await tablesOfProjects(pool)) {
		let count = rowsAtOnce
		let traces = 0
		while (count >= rowsAtOnce && !isOver()) {
			count = await deleteRows(pool, table, projectId, rowsAtOnce)
			removed += count
			traces += count
		}
		if (traces > harmlessTraces) await vacuum(pool, table)
		if (isOver()) return { removed, isLast: false }
	}
	if ((await countCleanups(pool, { projectId }))[0]!.count > 0)
		return { removed, isLast: false, waitMs: errandWaitMs }
	// Rows that running workers have added since are deleted by its cascade.
	await deleteProjectRow(pool, { projectId })
	return { removed, isLast: true }
}

const stillThere = () => new Error('Only the rows of a deleted project may be removed')
