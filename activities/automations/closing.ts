import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import type { Pool } from 'pg'
import { closingExecutions, markClosed } from '../../db/executions/execution-cancelling.ts'
import { withHeartbeat } from '../heartbeat.ts'

const pageSize = 50
/** Paces the requests, so that Temporal keeps capacity for other work. */
const pageMs = 500
/** After this the activity returns and frees its slot on the worker. */
const shareMs = 20_000

export interface Closing {
	closed: number
	isLast: boolean
}

export interface ClosingServices {
	pool: Pool
	temporal: Pick<Client, 'workflow'>
	stopping: AbortSignal
}

export function closingActivities({ pool, temporal, stopping }: ClosingServices) {
	return {
		/**
		 * Terminates the runs of ended executions, a hundred a second. Cancelling would wake each run for
		 * nothing. After a while it returns the number closed and is called again; the rows record the progress.
		 */
		closeRuns: ({ projectId }: { projectId: string }): Promise<Closing> =>
			withHeartbeat(async () => {
				const until = performance.now() + shareMs
				for (let closed = 0; ;) {
					const startedAt = performance.now()
					if (stopping.aborted || startedAt >= until) return { closed, isLast: false }
					const page = await closingExecutions(pool, { projectId, limit: pageSize })
					if (page.length === 0) return { closed, isLast: true }
					const ids = page.map(({ id }) => id)
					await Promise.all(ids.map(close))
					await markClosed(pool, { projectId, executionIds: ids })
					closed += ids.length
					await sleep(Math.max(0, startedAt + pageMs - performance.now()))
				}
			}),
	}

	async function close(executionId: string) {
		try {
			await temporal.workflow.getHandle(`automation/${executionId}`).terminate('Cancelled')
		} catch (error) {
			if (!(error instanceof WorkflowNotFoundError)) throw error
		}
	}
}
