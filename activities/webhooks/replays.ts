import type { Pool, PoolClient } from 'pg'
import { beginJob, failJob, finishJob, inActiveJob, type JobKey } from '../../db/jobs/jobs.ts'
import { countReplay, lockReplayed, replayPage } from '../../db/webhooks/webhook-replays.ts'
import { takeJobTurn } from '../job-turns.ts'

const rowsAtOnce = 1000

interface ReplayServices {
	pool: Pool
	relay: { wake(): void }
	stopping: AbortSignal
}

export function replayActivities({ pool, relay, stopping }: ReplayServices) {
	return {
		/**
		 * Returns true if another turn is needed. Each page and the job's progress are one transaction, so the next
		 * turn or a second try continues after it.
		 */
		async doReplay(job: JobKey, inTurns = false): Promise<boolean> {
			return takeJobTurn(stopping, inTurns, (isOver) => run(job, isOver))
		},
	}

	async function run(job: JobKey, isOver: () => boolean) {
		const [begun] = await beginJob(pool, job)
		if (!begun) return false
		await countReplay(pool, job)
		for (;;) {
			const page = await inActiveJob(pool, job, (db) => nextPage(db, job))
			if (!page) return false
			relay.wake()
			if (page.seen < rowsAtOnce) break
			if (isOver()) return true
		}
		await finishJob(pool, job)
		return false
	}

	async function nextPage(db: PoolClient, job: JobKey) {
		const [endpoint] = await lockReplayed(db, job)
		if (endpoint) return (await replayPage(db, { ...job, limit: rowsAtOnce }))[0]
		await failJob(db, { ...job, reason: 'The endpoint was disabled' })
		return undefined
	}
}
