import type { Pool } from 'pg'
import { doChunk, type BulkTarget, type BulkType, setTarget } from '../db/jobs/bulk-jobs.ts'
import { beginJob, finishJob, inActiveJob, type JobKey } from '../db/jobs/jobs.ts'
import { takeJobTurn } from './job-turns.ts'

export function bulkActivities({ pool, stopping }: { pool: Pool; stopping: AbortSignal }) {
	return {
		/**
		 * Returns true if another turn is needed. Each chunk and its removal from the job are one transaction, so the
		 * next turn or a second try continues after it.
		 */
		async doBulkJob(job: JobKey, inTurns = false): Promise<boolean> {
			return takeJobTurn(stopping, inTurns, (isOver) => run(pool, job, isOver))
		},
	}
}

async function run(pool: Pool, job: JobKey, isOver: () => boolean) {
	const { projectId, jobId } = job
	const [begun] = await beginJob(pool, { projectId, jobId })
	if (!begun) return false
	const target = begun.target as BulkTarget | null
	if (begun.total === null && !(await setTarget(pool, job, target!))) return false
	const field = begun.type === 'delete-field' ? target!.field! : null
	for (;;) {
		const chunk = await inActiveJob(pool, job, async (db) => {
			const [done] = await doChunk(db, begun.type as BulkType, { projectId, jobId, field })
			return done ?? 'nothing is left'
		})
		if (!chunk) return false
		if (chunk === 'nothing is left') break
		if (isOver()) return true
	}
	await finishJob(pool, { projectId, jobId })
	return false
}
