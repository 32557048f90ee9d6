import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import type { Pool } from 'pg'
import { closingExecutions, markClosed } from '../../db/executions/execution-cancelling.ts'
import { beating } from '../beating.ts'

const pageSize = 50
/** Temporal has other things to do. */
const pageMs = 500
/** Then others may have the worker's place. */
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
		 * Terminates the runs of executions that have ended here, a hundred a second: a cancellation would
		 * wake each of them for nothing. After a while it says how many, and is asked again: the rows know
		 * how far it has come.
		 */
		closeRuns: ({ projectId }: { projectId: string }): Promise<Closing> =>
			beating(async () => {
				const until = performance.now() + shareMs
				for (let closed = 0; ;) {
					const startedAt = performance.now()
					if (stopping.aborted || startedAt >= until) return { closed, isLast: false }
					const page = await closingExecutions(pool, [projectId, pageSize])
					if (page.length === 0) return { closed, isLast: true }
					const ids = page.map(({ id }) => id)
					await Promise.all(ids.map(close))
					await markClosed(pool, [projectId, ids])
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
