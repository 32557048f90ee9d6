import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { applyChunk, finishImport, noteApplied } from '../../db/imports/import-applying.ts'
import { clearImport, importFile, stageRows } from '../../db/imports/import-staging.ts'
import { countChanges, undoChunk } from '../../db/imports/import-undo.ts'
import { beginJob, failJob, finishJob, inActiveJob, type JobKey } from '../../db/jobs/jobs.ts'
import { inChunk } from '../../db/transaction.ts'
import { beating } from '../beating.ts'
import { permanently } from '../permanence.ts'
import { readRows } from './import-rows.ts'
import { isFileFault } from './import-slice.ts'

/** Chunks of one import that are under way at once: it leaves the other cores to everybody else. */
const lanes = 2
const busyMs = 100

export function importActivities({ pool }: { pool: Pool }) {
	return {
		/** True once the file's rows are set down, which a second try finds done or does from the start. */
		async stageImport(job: JobKey): Promise<boolean> {
			return beating(() => permanently(() => stage(pool, job)))
		},

		/** Each chunk is a transaction that also notes how far the job is: a second try goes on there. */
		async applyImport(job: JobKey): Promise<void> {
			await beating(() => permanently(() => apply(pool, job)))
		},

		async clearImport({ projectId, jobId }: JobKey): Promise<void> {
			await clearImport(pool, [projectId, jobId])
		},

		/** As `applyImport`: what is taken back is forgotten in the same transaction. */
		async undoImport(job: JobKey): Promise<void> {
			await beating(() => permanently(() => undo(pool, job)))
		},

		/** The end of a job that cannot go on, for reasons that are ours. */
		async endAsFailed({ projectId, jobId }: JobKey): Promise<void> {
			const reason = 'Something went wrong on our side. What was done until then stays.'
			await failJob(pool, [projectId, jobId, reason])
		},
	}
}

const nothingLeft = 'nothing is left'

async function stage(pool: Pool, job: JobKey) {
	const { projectId, jobId } = job
	const [begun] = await beginJob(pool, [projectId, jobId])
	if (!begun) return false
	if (begun.total !== null) return true
	const [file] = await importFile(pool, [projectId, jobId])
	try {
		await stageRows(pool, job, readRows(projectId, file!.content))
		return true
	} catch (error) {
		if (!isFileFault(error)) throw error
		await failJob(pool, [projectId, jobId, (error as Error).message])
		return false
	}
}

async function apply(pool: Pool, job: JobKey) {
	const values = [job.projectId, job.jobId]
	let failed = false
	async function lane() {
		try {
			while (!failed && (await applyNext(pool, job)));
		} catch (error) {
			failed = true
			throw error
		}
	}
	do {
		// Whatever one lane runs into, the others end with their chunk before it is reported.
		const ends = await Promise.allSettled(Array.from({ length: lanes }, lane))
		const fault = ends.find((end) => end.status === 'rejected')
		if (fault) throw fault.reason
	} while (await isBusy(pool, values))
}

/** False: there was nothing left to take, or the job is not to be worked on any more. */
async function applyNext(pool: Pool, { projectId, jobId }: JobKey) {
	try {
		return await inChunk(pool, async (db) => {
			const [applied] = await applyChunk(db, [projectId, jobId])
			if (!applied) return false
			const { rows, created, changed, failed, missed } = applied
			if (missed > 0) throw contactsAppeared()
			const noted = await noteApplied(db, [projectId, jobId, rows, created, changed, failed])
			if (noted.length === 0) throw new Cancelled()
			return true
		})
	} catch (error) {
		if (error instanceof Cancelled) return false
		throw error
	}
}

/** Rolls a chunk back. */
class Cancelled extends Error {}

/** Ends the import, or says that another worker still has a chunk of it, which might come back. */
async function isBusy(pool: Pool, values: string[]) {
	const [end] = await finishImport(pool, values)
	if (end?.isBusy) await sleep(busyMs)
	return end?.isBusy === true
}

/** The code by which `inChunk` rolls back and repeats it, like any other conflict of two writers. */
const contactsAppeared = () =>
	Object.assign(new Error('Somebody else created these contacts'), { code: '40001' })

async function undo(pool: Pool, job: JobKey) {
	const { projectId, jobId } = job
	const [begun] = await beginJob(pool, [projectId, jobId])
	if (!begun) return
	const importId = begun.import_id
	await countChanges(pool, [projectId, jobId, importId])
	for (;;) {
		const chunk = await inActiveJob(pool, job, async (db) => {
			const [undone] = await undoChunk(db, [projectId, jobId, importId])
			return undone ?? nothingLeft
		})
		if (!chunk) return
		if (chunk === nothingLeft) break
	}
	await finishJob(pool, [projectId, jobId])
}
