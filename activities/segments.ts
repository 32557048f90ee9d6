import type { Pool } from 'pg'
import { Context, log } from '@temporalio/activity'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFairTurns } from '../db/fair-turns.ts'
import { computeDueSegment } from '../db/segments/segment-compute.ts'
import {
	type DueSegment,
	foldSegmentTallies,
	postpone,
	takeDueSegments,
} from '../db/segments/segment-sweep.ts'
import { isTooSlow } from '../db/timed-reading.ts'
import { withHeartbeat } from './heartbeat.ts'

const pageSize = 20
const lanes = 2
/** Before further segments are taken while slow ones are being computed. */
const pauseMs = 1000

/** The time limit of the activity in workflows/segment-sweep.ts. */
const activityMs = 30 * 60_000

export interface Limits {
	/** For finding out who enters and leaves a segment. */
	mostMs: number
	/** The same for a segment that has reached `mostMs`. */
	mostMsIfSlow: number
	/** No segment is begun after that. The last may take `mostMsIfSlow`, and the activity has `activityMs`. */
	turnMs: number
}

const limits: Limits = { mostMs: 60_000, mostMsIfSlow: 5 * 60_000, turnMs: 15 * 60_000 }

export interface SweptPage {
	computed: number
	failed: number
	added: number
	removed: number
	/** False if more segments may be due. */
	isLast: boolean
}

interface SegmentServices {
	pool: Pool
	/** The process is stopping: another worker computes the next segment. */
	stopping: AbortSignal
}

export function segmentActivities({ pool, stopping }: SegmentServices, given = limits) {
	return {
		/**
		 * Computes the segments that are due, until none is. A second try continues with others. A segment that fails,
		 * or kills its worker, is due again in the next sweep and doesn't block the others.
		 */
		async sweepSegments(): Promise<SweptPage> {
			return withHeartbeat(async () => {
				await foldSegmentTallies(pool)
				const page = { computed: 0, failed: 0, added: 0, removed: 0, isLast: true }
				await sweep(pool, page, given, stopping)
				return page
			})
		},
	}
}

/**
 * Each page has at most one segment of a project, so those with many keep no other waiting. A segment that takes long is
 * put off, and computed beside the pages, one at a time. Projects take turns there, too.
 */
async function sweep(
	pool: Pool,
	page: SweptPage,
	{ mostMs, mostMsIfSlow, turnMs }: Limits,
	stopping: AbortSignal,
) {
	const { cancellationSignal } = Context.current()
	const end = performance.now() + turnMs
	const isOver = () => stopping.aborted || cancellationSignal.aborted || performance.now() > end
	const inSlowTurn = createFairTurns({
		atOnce: 1,
		ofOne: 1,
		waiting: Infinity,
		patienceMs: activityMs,
	})
	const slow = new Set<Promise<void>>()

	while (!isOver()) {
		const due = await takeDueSegments(pool, { limit: pageSize })
		if (due.length === 0 && slow.size === 0) return
		const segments = due.filter(({ isDisabled }) => !isDisabled).values()
		await Promise.all(Array.from({ length: lanes }, () => computeAll(segments)))
		if (due.length === 0) await Promise.race([...slow, sleep(pauseMs)])
	}
	page.isLast = false
	await Promise.all(slow)

	/** Lanes share `segments`. */
	async function computeAll(segments: Iterable<DueSegment>) {
		for (const segment of segments) {
			if (isOver()) return
			if (!(await compute(segment, mostMs))) computeSlow(segment)
		}
	}

	function computeSlow(segment: DueSegment) {
		const computed = inSlowTurn(segment.projectId, async () => {
			if (!isOver() && !(await compute(segment, mostMsIfSlow))) page.failed += 1
		})
		slow.add(computed)
		// A failure stays, and is thrown where it is awaited.
		computed.then(
			() => slow.delete(computed),
			() => {},
		)
	}

	/** False: it has taken too long, and is put off. */
	async function compute(segment: DueSegment, mostMs: number) {
		const { projectId, id } = segment
		try {
			const computed = await computeDueSegment(pool, projectId, id, mostMs)
			page.computed += 1
			page.added += computed?.added ?? 0
			page.removed += computed?.removed ?? 0
		} catch (error) {
			log.error('a segment could not be computed', { projectId, segmentId: id, mostMs, error })
			if (isTooSlow(error)) {
				await postpone(pool, { projectId, segmentId: id })
				return false
			}
			page.failed += 1
		}
		return true
	}
}
