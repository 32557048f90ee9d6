import { WorkflowNotFoundError } from '@temporalio/client'
import type { Pool } from 'pg'
import { restartLost } from '../../db/outbox/lost-runs.ts'
import { taskQueues } from '../../workflows/task-queues.ts'

/** Looks for lost runs with a Temporal that knows of these, and of no others; says how many were lost. */
export function lookForLost(pool: Pool, ...running: string[]) {
	const describe = async (workflowId: string) => {
		if (!running.includes(workflowId))
			throw new WorkflowNotFoundError('not found', workflowId, undefined)
		return { status: { name: 'RUNNING' } }
	}
	const temporal = {
		withDeadline: (_: number, call: () => Promise<unknown>) => call(),
		workflow: { getHandle: (id: string) => ({ describe: () => describe(id) }) },
	} as unknown as Parameters<typeof restartLost>[0]['temporal']
	return restartLost({ pool, temporal, sendTaskQueue: taskQueues.core, isStopped: () => false })
}
