import { Context } from '@temporalio/activity'
import type { Pool } from 'pg'
import { endCleanup } from '../db/outbox/cleanups.ts'

/** Does all of a run's work, which must be repeatable: the outbox keeps its row until the work is done. */
export async function cleanUp(pool: Pool, work: () => Promise<unknown>) {
	await work()
	await endCleanup(pool, { workflowId: Context.current().info.workflowExecution!.workflowId })
}
