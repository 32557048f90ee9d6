import type { Pool } from 'pg'
import { doChunk, type BulkTarget, type BulkType, setTarget } from '../db/jobs/bulk-jobs.ts'
import { beginJob, finishJob, inActiveJob, type JobKey } from '../db/jobs/jobs.ts'
import { withHeartbeat } from './heartbeat.ts'
import { permanently } from './permanence.ts'

export function bulkActivities({ pool }: { pool: Pool }) {
	return {
		/** Each chunk and its removal from the job are one transaction, so a second try continues after it. */
		async doBulkJob(job: JobKey): Promise<void> {
			await withHeartbeat(() => permanently(() => run(pool, job)))
		},
	}
}

async function run(pool: Pool, job: JobKey) {
	const { projectId, jobId } = job
	const [begun] = await beginJob(pool, { projectId, jobId })
	if (!begun) return
	const target = begun.target as BulkTarget | null
	if (begun.total === null && !(await setTarget(pool, job, target!))) return
	const field = begun.type === 'delete-field' ? target!.field! : null
	for (;;) {
		const chunk = await inActiveJob(pool, job, async (db) => {
			const [done] = await doChunk(db, begun.type as BulkType, { projectId, jobId, field })
			return done ?? 'nothing is left'
		})
		if (!chunk) return
		if (chunk === 'nothing is left') break
	}
	await finishJob(pool, { projectId, jobId })
}
