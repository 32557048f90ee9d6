import { isDeepStrictEqual } from 'node:util'
import type { Pool, PoolClient } from 'pg'
import { rulesOf, segmentsReached } from './condition-segments.ts'
import { compileCondition, type SegmentRule } from './condition-sql.ts'
import { type Condition, membersOf } from './condition.ts'

/**
 * A condition as it was at one moment, for long-running work: later edits of its segments don't change it.
 */
export interface FrozenCondition {
	/** Null: every contact. */
	condition: Condition | null
	/** All segments that the condition reaches, by id. */
	segments: Record<string, SegmentRule>
}

/** Consistent if the caller's transaction holds `lockReferences`. */
export async function freeze(
	db: Pool | PoolClient,
	projectId: string,
	condition: Condition | null,
): Promise<FrozenCondition> {
	const reached = condition ? await segmentsReached(db, projectId, condition) : []
	return { condition, segments: Object.fromEntries(reached) }
}

/**
 * The members of a segment, frozen. A dynamic one is evaluated, as its list is: the stored members of a tracked segment
 * may be some minutes old, and a contact that is in it for a short time may never be among them.
 */
export async function freezeMembers(
	db: Pool | PoolClient,
	projectId: string,
	segmentId: string,
): Promise<FrozenCondition> {
	const { condition, segments } = await freeze(db, projectId, membersOf(segmentId))
	const segment = segments[segmentId]
	if (segment?.type === 'DYNAMIC') segments[segmentId] = { ...segment, trackMembership: false }
	return { condition, segments }
}

/**
 * The predicate for a statement; null: every contact. For a tracked segment that has not been edited, the
 * stored members are used. After an edit these belong to another condition, so the frozen condition is
 * evaluated.
 */
export async function compileFrozen(
	db: Pool | PoolClient,
	projectId: string,
	{ condition, segments }: FrozenCondition,
	now?: Date,
) {
	if (!condition) return null
	const tracked = Object.keys(segments).filter((id) => segments[id]!.trackMembership)
	const current = tracked.length > 0 ? await rulesOf(db, { projectId, segmentIds: tracked }) : []
	const unchanged = new Set(
		current.filter(({ id, ...rule }) => isDeepStrictEqual(rule, segments[id])).map(({ id }) => id),
	)
	const rules = new Map(
		Object.entries(segments).map(([id, rule]) => [
			id,
			{ ...rule, trackMembership: unchanged.has(id) },
		]),
	)
	return compileCondition(condition, { segments: rules, ...(now ? { now } : {}) })
}
