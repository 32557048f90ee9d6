import { Context } from '@temporalio/activity'
import type { Pool } from 'pg'
import { endErrand } from '../db/outbox/errands.ts'

/** The whole of a run's work, which bears repetition: it is found in the outbox until it is done. */
export async function errand(pool: Pool, work: () => Promise<unknown>) {
	await work()
	await endErrand(pool, [Context.current().info.workflowExecution!.workflowId])
}
