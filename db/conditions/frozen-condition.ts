import { isDeepStrictEqual } from 'node:util'
import type { Pool, PoolClient } from 'pg'
import { rulesOf, segmentsReached } from './condition-segments.ts'
import { compileCondition, type SegmentRule } from './condition-sql.ts'
import type { Condition } from './condition.ts'

/**
 * What a condition means at one moment, for work that goes on long after it: an edit of a segment that
 * it reaches changes nothing of it.
 */
export interface FrozenCondition {
	/** Null: everybody. */
	condition: Condition | null
	/** By id, as it has them all. */
	segments: Record<string, SegmentRule>
}

/** Of one moment if the caller's transaction has `lockReferences`. */
export async function freeze(
	db: Pool | PoolClient,
	projectId: string,
	condition: Condition | null,
): Promise<FrozenCondition> {
	const reached = condition ? await segmentsReached(db, projectId, condition) : []
	return { condition, segments: Object.fromEntries(reached) }
}

/**
 * Ready to be compiled into a statement; null: everybody. Of a tracked segment the stored members count
 * while it is as it was: after an edit they will be those of another condition, so its own is asked.
 */
export async function compileFrozen(
	db: Pool | PoolClient,
	projectId: string,
	{ condition, segments }: FrozenCondition,
	now?: Date,
) {
	if (!condition) return null
	const tracked = Object.keys(segments).filter((id) => segments[id]!.trackMembership)
	const current = tracked.length > 0 ? await rulesOf(db, [projectId, tracked]) : []
	const unchanged = new Set(
		current.filter(({ id, ...rule }) => isDeepStrictEqual(rule, segments[id])).map(({ id }) => id),
	)
	const rules = new Map(
		Object.entries(segments).map(([id, rule]) => [
			id,
			{ ...rule, trackMembership: unchanged.has(id) },
		]),
	)
	return compileCondition(condition, { projectId, segments: rules, ...(now ? { now } : {}) })
}
