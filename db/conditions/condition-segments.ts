import type { Pool, PoolClient } from 'pg'
import { text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { segmentRuleColumns, compileCondition, type SegmentRule } from './condition-sql.ts'
import { type Condition, segmentsIn } from './condition.ts'

/**
 * Until a compute has stored all members that a tracked segment's present condition finds, the condition
 * itself is evaluated. Otherwise the segment would seem empty.
 */
export const rulesOf = statement('segment-rules', {
	params: { projectId: uuid, segmentIds: text.array },
	row: { ...segmentRuleColumns, id: uuid },
	text: `select id, type, track_membership and computed_until is not null as "trackMembership", condition
	from segments where project_id = $projectId and id::text = any($segmentIds::text[])`,
})

/** A condition with all the segments it needs, ready to be compiled. */
export async function compileFor(
	db: Pool | PoolClient,
	projectId: string,
	condition: Condition,
	now?: Date,
) {
	const segments = await segmentsReached(db, projectId, condition)
	return compileCondition(condition, { segments, ...(now ? { now } : {}) })
}

/**
 * The same for actions that can't be undone. Null: the condition names a deleted segment, so its audience
 * is unknown. In all other uses a deleted segment counts as empty.
 */
export async function compileWhole(db: Pool | PoolClient, projectId: string, condition: Condition) {
	const segments = await segmentsReached(db, projectId, condition)
	if (segmentsIn(condition).some((id) => !segments.has(id))) return null
	return compileCondition(condition, { segments })
}

/** The segments that a condition names, and the segments that these refer to. */
export async function segmentsReached(
	db: Pool | PoolClient,
	projectId: string,
	condition: Condition,
) {
	const reached = new Map<string, SegmentRule>()
	const asked = new Set<string>()
	for (let wanted = segmentsIn(condition); wanted.length > 0;) {
		for (const id of wanted) asked.add(id)
		const rules = await rulesOf(db, { projectId, segmentIds: wanted })
		for (const { id, ...rule } of rules) reached.set(id, rule)
		wanted = rules
			.flatMap((rule) => (rule.condition ? segmentsIn(rule.condition) : []))
			.filter((id) => !asked.has(id))
	}
	return reached
}
