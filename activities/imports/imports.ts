import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { applyChunk, finishImport, recordApplied } from '../../db/imports/import-applying.ts'
import { clearImport, importFile, stageRows } from '../../db/imports/import-staging.ts'
import { countChanges, undoChunk } from '../../db/imports/import-undo.ts'
import { beginJob, failJob, finishJob, inActiveJob, type JobKey } from '../../db/jobs/jobs.ts'
import { inChunk } from '../../db/transaction.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { takeJobTurn } from '../job-turns.ts'
import { permanently } from '../permanence.ts'
import { readRows } from './import-rows.ts'
import { isFileFault } from './import-slice.ts'

/** Chunks of one import that run at once. The other cores stay free for other work. */
const lanes = 2
const busyMs = 100

export function importActivities({ pool, stopping }: { pool: Pool; stopping: AbortSignal }) {
	return {
		/**
		 * Returns true once the file's rows are staged. A second try finds them staged, or stages them from the
		 * start.
		 */
		async stageImport(job: JobKey): Promise<boolean> {
			return withHeartbeat(() => permanently(() => stage(pool, job)))
		},

		/**
		 * Returns true if another turn is needed. Each chunk and the record of its progress are one transaction, so
		 * the next turn or a second try continues after it.
		 */
		async applyImport(job: JobKey, inTurns = false): Promise<boolean> {
			return takeJobTurn(stopping, inTurns, (isOver) => apply(pool, job, isOver))
		},

		async clearImport({ projectId, jobId }: JobKey): Promise<void> {
			await clearImport(pool, { projectId, jobId })
		},

		/**
		 * As in `applyImport`, each chunk and its progress are one transaction: reverted changes are deleted in
		 * it.
		 */
		async undoImport(job: JobKey, inTurns = false): Promise<boolean> {
			return takeJobTurn(stopping, inTurns, (isOver) => undo(pool, job, isOver))
		},

		/** Ends a job that can't continue because of a fault on our side. */
		async endAsFailed({ projectId, jobId }: JobKey): Promise<void> {
			const reason = 'Something went wrong on our side. What was done before stays.'
			await failJob(pool, { projectId, jobId, reason })
		},
	}
}

const nothingLeft = 'nothing is left'

async function stage(pool: Pool, job: JobKey) {
	const { projectId, jobId } = job
	const [begun] = await beginJob(pool, { projectId, jobId })
	if (!begun) return false
	if (begun.total !== null) return true
	const [file] = await importFile(pool, { projectId, jobId })
	try {
		await stageRows(pool, job, readRows(projectId, file!.content))
		return true
	} catch (error) {
		if (!isFileFault(error)) throw error
		await failJob(pool, { projectId, jobId, reason: (error as Error).message })
		return false
	}
}

async function apply(pool: Pool, job: JobKey, isOver: () => boolean) {
	const { projectId, jobId } = job
	let failed = false
	async function lane() {
		try {
			while (!failed && (await applyNext(pool, job)) && !isOver());
		} catch (error) {
			failed = true
			throw error
		}
	}
	for (;;) {
		// If one lane fails, the others finish their chunk before the error is thrown.
		const ends = await Promise.allSettled(Array.from({ length: lanes }, lane))
		const fault = ends.find((end) => end.status === 'rejected')
		if (fault) throw fault.reason
		const [end] = await finishImport(pool, { projectId, jobId })
		if (!end?.isBusy) return false
		if (isOver()) return true
		// Another worker has a chunk, which may become free again.
		await sleep(busyMs)
	}
}

/** Returns false if nothing is left, or if the job may not be continued. */
async function applyNext(pool: Pool, { projectId, jobId }: JobKey) {
	try {
		return await inChunk(pool, async (db) => {
			const [applied] = await applyChunk(db, { projectId, jobId })
			if (!applied) return false
			const { rows, created, changed, failed, missed } = applied
			if (missed > 0) throw contactsAppeared()
			const recorded = await recordApplied(db, { projectId, jobId, rows, created, changed, failed })
			if (recorded.length === 0) throw new Cancelled()
			return true
		})
	} catch (error) {
		if (error instanceof Cancelled) return false
		throw error
	}
}

/** Rolls a chunk back. */
class Cancelled extends Error {}

/** With this code `inChunk` rolls back and repeats the chunk, as after any other write conflict. */
const contactsAppeared = () =>
	Object.assign(new Error('Another request created these contacts'), { code: '40001' })

async function undo(pool: Pool, job: JobKey, isOver: () => boolean) {
	const { projectId, jobId } = job
	const [begun] = await beginJob(pool, { projectId, jobId })
	if (!begun) return false
	const importId = begun.import_id!
	await countChanges(pool, { projectId, jobId, importId })
	for (;;) {
		const chunk = await inActiveJob(pool, job, async (db) => {
			const [undone] = await undoChunk(db, { projectId, jobId, importId })
			return undone ?? nothingLeft
		})
		if (!chunk) return false
		if (chunk === nothingLeft) break
		if (isOver()) return true
	}
	await finishJob(pool, { projectId, jobId })
	return false
}
