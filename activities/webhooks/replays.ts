import type { Pool } from 'pg'
import { beginJob, finishJob, inActiveJob, type JobKey } from '../../db/jobs/jobs.ts'
import { countReplay, replayPage } from '../../db/webhooks/webhook-replays.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { permanently } from '../permanence.ts'

const rowsAtOnce = 1000

export function replayActivities({ pool, relay }: { pool: Pool; relay: { wake(): void } }) {
	return {
		/** Each page and the job's progress are one transaction, so a second try continues after it. */
		async doReplay(job: JobKey): Promise<void> {
			await withHeartbeat(() => permanently(() => run(job)))
		},
	}

	async function run(job: JobKey) {
		const [begun] = await beginJob(pool, job)
		if (!begun) return
		await countReplay(pool, job)
		for (;;) {
			const page = await inActiveJob(pool, job, (db) =>
				replayPage(db, { ...job, limit: rowsAtOnce }),
			)
			if (!page) return
			relay.wake()
			if (page[0]!.seen < rowsAtOnce) break
		}
		await finishJob(pool, job)
	}
}
