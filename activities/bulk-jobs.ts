import type { Pool } from 'pg'
import { bulkChunks, type BulkTarget, type BulkType, setTarget } from '../db/jobs/bulk-jobs.ts'
import { beginJob, finishJob, inActiveJob, type JobKey } from '../db/jobs/jobs.ts'
import { beating } from './beating.ts'
import { permanently } from './permanence.ts'

export function bulkActivities({ pool }: { pool: Pool }) {
	return {
		/** Each chunk is a transaction in which it is also struck off: a second try goes on behind it. */
		async doBulkJob(job: JobKey): Promise<void> {
			await beating(() => permanently(() => run(pool, job)))
		},
	}
}

async function run(pool: Pool, job: JobKey) {
	const { projectId, jobId } = job
	const [begun] = await beginJob(pool, [projectId, jobId])
	if (!begun) return
	const target = begun.target as BulkTarget | null
	if (begun.total === null && !(await setTarget(pool, job, target!))) return
	const doChunk = bulkChunks[begun.type as BulkType]
	const values = [projectId, jobId, ...(begun.type === 'delete-field' ? [target!.field] : [])]
	for (;;) {
		const chunk = await inActiveJob(pool, job, async (db) => {
			const [done] = await doChunk(db, values)
			return done ?? 'nothing is left'
		})
		if (!chunk) return
		if (chunk === 'nothing is left') break
	}
	await finishJob(pool, [projectId, jobId])
}
