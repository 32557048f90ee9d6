import type { Pool } from 'pg'
import { log } from '@temporalio/activity'
import { computeSegment } from '../db/segments/segment-compute.ts'
import { foldSegmentTallies, postpone, takeDueSegments } from '../db/segments/segment-sweep.ts'
import { isTooSlow } from '../db/timed-reading.ts'
import { withHeartbeat } from './heartbeat.ts'

const pageSize = 20
const mostMsOfSegment = 5 * 60_000

export interface SweptPage {
	computed: number
	failed: number
	added: number
	removed: number
	/** False if more segments may be due. */
	isLast: boolean
}

export function segmentActivities({ pool }: { pool: Pool }) {
	return {
		/**
		 * Computes some of the segments that are due. A second try continues with others. A segment that fails,
		 * or kills its worker, is due again in the next sweep and doesn't block the others.
		 */
		async sweepSegments(): Promise<SweptPage> {
			return withHeartbeat(async () => {
				await foldSegmentTallies(pool)
				const due = await takeDueSegments(pool, { limit: pageSize })
				const page = { computed: 0, failed: 0, added: 0, removed: 0, isLast: due.length < pageSize }
				for (const { projectId, id } of due.filter(({ isDisabled }) => !isDisabled))
					try {
						const computed = await computeSegment(pool, projectId, id, mostMsOfSegment)
						page.computed += 1
						page.added += computed?.added ?? 0
						page.removed += computed?.removed ?? 0
					} catch (error) {
						if (isTooSlow(error)) await postpone(pool, { projectId, segmentId: id })
						log.error('a segment could not be computed', { projectId, segmentId: id, error })
						page.failed += 1
					}
				return page
			})
		},
	}
}
