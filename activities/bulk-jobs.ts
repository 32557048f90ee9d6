import type { Pool } from 'pg'
import { doChunk, type BulkType } from '../db/jobs/bulk-jobs.ts'
import { type BulkTarget, setTarget } from '../db/jobs/bulk-target.ts'
import { beginJob, failJob, finishJob, inActiveJob, type JobKey } from '../db/jobs/jobs.ts'
import { isTooSlow } from '../db/timed-reading.ts'
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
	if (begun.total === null) {
		const end = await setTarget(pool, job, target!, isOver).catch(async (error: unknown) => {
			if (!isTooSlow(error)) throw error
			await failJob(pool, { projectId, jobId, reason: 'The filter takes too long' })
			return 'has failed' as const
		})
		if (end === 'has failed') return false
		if (end === 'needs another turn') return true
	}
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
