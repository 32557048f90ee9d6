import type { Pool } from 'pg'
import { segmentsReached } from '../../db/conditions/condition-segments.ts'
import { type Condition, type ConditionGroup, membersOf } from '../../db/conditions/condition.ts'
import { checkCondition } from '../conditions/conditions.ts'
import { notFound } from '../errors.ts'
import { refuseReferences } from '../segments/segment-conditions.ts'

/** A condition and a segment as one condition, checked; null: every contact. */
export async function filterCondition(
	pool: Pool,
	projectId: string,
	{ condition, segmentId }: { condition?: unknown; segmentId?: string | undefined },
	path: string,
): Promise<Condition | null> {
	const groups: ConditionGroup[] = []
	if (condition !== undefined) {
		const tree = checkCondition(condition, path)
		await refuseReferences(pool, projectId, tree, undefined, path)
		groups.push({ conditions: tree })
	}
	if (segmentId !== undefined) {
		const members = membersOf(segmentId.toLowerCase())
		if ((await segmentsReached(pool, projectId, members)).size === 0)
			throw notFound('segment', segmentId)
		groups.push(...members.groups)
	}
	return groups.length > 0 ? { logic: 'AND', groups } : null
}
