import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import type { Pool } from 'pg'
import { restartEnrolments, unfinishedEnrolments } from '../automations/lost-enrolments.ts'
import { openCampaigns, restartCampaigns } from '../campaigns/lost-campaigns.ts'
import {
	overdueClosings,
	overdueExecutions,
	postponeExecutions,
	restartClosings,
	restartExecutions,
} from '../executions/lost-executions.ts'
import { restartJobs, unfinishedJobs } from '../jobs/lost-jobs.ts'
import { restartRemovals, unfinishedRemovals } from '../projects/project-removal.ts'
import { restartSuspensions, unfinishedSuspensions } from '../reputation/lost-suspensions.ts'
import { restartClaims, unfinishedClaims } from './claims.ts'
import { restartCleanups, unfinishedCleanups } from './cleanups.ts'

interface LostRunsServices {
	pool: Pool
	temporal: Pick<Client, 'workflow' | 'withDeadline'>
	workflowTaskQueue: string
	isStopped: () => boolean
}

interface Row {
	workflow_id: string
}

interface Kind {
	unfinished: (pool: Pool, given: { limit: number }) => Promise<Row[]>
	restart: (pool: Pool, given: { runs: object[]; taskQueue: string }) => Promise<unknown>
	/** Rows are not returned twice in a row, so there may be another page. */
	isPaged?: true
	/** Delays the next check of rows whose runs are alive. */
	postpone?: (pool: Pool, given: { runs: object[] }) => Promise<unknown>
}

const rowsAtOnce = 100
const describedAtOnce = 20
const rpcDeadlineMs = 5000

/** The kinds of unfinished rows that need a running workflow. */
const kinds: Kind[] = [
	{
		unfinished: async (pool, given) =>
			(await unfinishedClaims(pool, given)).map((claim) => ({
				...claim,
				workflow_id: `send/${claim.claim_id}`,
			})),
		restart: restartClaims,
		isPaged: true,
	},
	{ unfinished: unfinishedJobs, restart: restartJobs },
	{ unfinished: openCampaigns, restart: restartCampaigns },
	{
		unfinished: overdueExecutions,
		restart: restartExecutions,
		isPaged: true,
		postpone: postponeExecutions,
	},
	{ unfinished: unfinishedEnrolments, restart: restartEnrolments },
	{ unfinished: overdueClosings, restart: restartClosings },
	{ unfinished: unfinishedSuspensions, restart: restartSuspensions },
	{ unfinished: unfinishedRemovals, restart: restartRemovals },
	{ unfinished: unfinishedCleanups, restart: (pool, { runs }) => restartCleanups(pool, { runs }) },
]

/** Restarts all runs that Temporal has lost; returns their number. */
export async function restartLost(services: LostRunsServices) {
	let count = 0
	for (const kind of kinds) count += await restartKind(services, kind)
	return count
}

async function restartKind(services: LostRunsServices, kind: Kind) {
	const { pool, workflowTaskQueue, isStopped } = services
	let count = 0
	while (!isStopped()) {
		const rows = await kind.unfinished(pool, { limit: rowsAtOnce })
		const { lost = [], alive = [] } = await sort(services, rows)
		if (lost.length > 0) await kind.restart(pool, { runs: lost, taskQueue: workflowTaskQueue })
		if (alive.length > 0) await kind.postpone?.(pool, { runs: alive })
		count += lost.length
		if (!kind.isPaged || rows.length < rowsAtOnce) break
	}
	return count
}

async function sort({ temporal }: LostRunsServices, rows: Row[]) {
	const isAlive = new Map<Row, boolean>()
	const queue = rows.values()
	await Promise.all(
		Array.from({ length: describedAtOnce }, async () => {
			for (const row of queue) isAlive.set(row, await isRunning(temporal, row.workflow_id))
		}),
	)
	return Object.groupBy(rows, (row) => (isAlive.get(row) ? 'alive' : 'lost'))
}

async function isRunning(temporal: LostRunsServices['temporal'], workflowId: string) {
	try {
		const { status } = await temporal.withDeadline(Date.now() + rpcDeadlineMs, () =>
			temporal.workflow.getHandle(workflowId).describe(),
		)
		return status.name === 'RUNNING'
	} catch (error) {
		if (error instanceof WorkflowNotFoundError) return false
		throw error
	}
}
