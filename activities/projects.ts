import type { Pool } from 'pg'
import { cancelCampaignsOf } from '../db/campaigns/campaign-actions.ts'
import { cancelProjectExecutions } from '../db/executions/execution-cancelling.ts'
import { countErrands } from '../db/outbox/errands.ts'
import {
	countOpenRuns,
	deleteProjectRow,
	deleteRows,
	isBuried,
	tablesOfProjects,
} from '../db/projects/project-removal.ts'
import { vacuum } from '../db/vacuum.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { beating } from './beating.ts'

const rowsAtOnce = 2000
/** Rows that are gone leave traces, and whoever looks for those that refer to another steps over each. */
const harmlessTraces = 10_000
/** A page ends after so long, so that the run says how far it is. */
const pageMs = 20_000
const errandWaitMs = 600_000

export interface RemovedRows {
	removed: number
	isLast: boolean
	/** Only errands are left: the project's own row stays until they are done, so look again after so long. */
	waitMs?: number
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
	let removed = 0
	for (const table of await tablesOfProjects(pool)) {
		let count = rowsAtOnce
		let traces = 0
		while (count === rowsAtOnce && Date.now() < endsAt) {
			count = await deleteRows(pool, table, projectId, rowsAtOnce)
			removed += count
			traces += count
		}
		if (traces > harmlessTraces) await vacuum(pool, table)
		if (Date.now() >= endsAt) return { removed, isLast: false }
	}
	if ((await countErrands(pool, [projectId]))[0]!.count > 0)
		return { removed, isLast: false, waitMs: errandWaitMs }
	// What workers at work until now have left behind goes with the row.
	await deleteProjectRow(pool, [projectId])
	return { removed, isLast: true }
}

const stillThere = () => new Error('A project that somebody can reach keeps its rows')
