import { WorkflowNotFoundError } from '@temporalio/client'
import type { Pool } from 'pg'
import { restartLost } from '../../db/outbox/lost-runs.ts'
import { taskQueues } from '../../workflows/task-queues.ts'

/** A Temporal that can only be asked about runs. */
export const temporalThat = (describe: (workflowId: string) => Promise<unknown>) =>
	({
		withDeadline: (_: number, call: () => Promise<unknown>) => call(),
		workflow: { getHandle: (id: string) => ({ describe: () => describe(id) }) },
	}) as unknown as Parameters<typeof restartLost>[0]['temporal']

/** Restarts lost runs with a Temporal that knows only these runs; returns the number of lost ones. */
export function lookForLost(pool: Pool, ...running: string[]) {
	const describe = async (workflowId: string) => {
		if (!running.includes(workflowId))
			throw new WorkflowNotFoundError('not found', workflowId, undefined)
		return { status: { name: 'RUNNING' } }
	}
	const temporal = temporalThat(describe)
	return restartLost({ pool, temporal, workflowTaskQueue: taskQueues.core, isStopped: () => false })
}
