import type { Pool, PoolClient } from 'pg'
import { statement } from '../statement.ts'
import { compileCondition, type SegmentRule } from './condition-sql.ts'
import { type Condition, segmentsIn } from './condition.ts'

type Rule = SegmentRule & { id: string }

/**
 * Until a compute has stored all whom its present condition finds, a tracked segment is asked like any
 * other: nobody would be in it, and everybody not in it. $1 project, $2 ids
 */
export const rulesOf = statement<Rule>(
	'segment-rules',
	`select id, type, track_membership and computed_until is not null as "trackMembership", condition
	from segments where project_id = $1 and id::text = any($2::text[])`,
)

/** A condition with all that it needs to know of the project's segments, ready to be compiled. */
export async function compileFor(
	db: Pool | PoolClient,
	projectId: string,
	condition: Condition,
	now?: Date,
) {
	const segments = await segmentsReached(db, projectId, condition)
	return compileCondition(condition, { projectId, segments, ...(now ? { now } : {}) })
}

/**
 * The same for what cannot be taken back. Null: the condition names a segment that is no more, so nobody
 * can say any longer whom it means; elsewhere nobody is in such a one, and everybody is not in it.
 */
export async function compileWhole(db: Pool | PoolClient, projectId: string, condition: Condition) {
	const segments = await segmentsReached(db, projectId, condition)
	if (segmentsIn(condition).some((id) => !segments.has(id))) return null
	return compileCondition(condition, { projectId, segments })
}

/** The segments that a condition names, and those that these are made of in turn. */
export async function segmentsReached(
	db: Pool | PoolClient,
	projectId: string,
	condition: Condition,
) {
	const reached = new Map<string, SegmentRule>()
	const asked = new Set<string>()
	for (let wanted = segmentsIn(condition); wanted.length > 0;) {
		for (const id of wanted) asked.add(id)
		const rules = await rulesOf(db, [projectId, wanted])
		for (const { id, ...rule } of rules) reached.set(id, rule)
		wanted = rules
			.flatMap((rule) => (rule.condition ? segmentsIn(rule.condition) : []))
			.filter((id) => !asked.has(id))
	}
	return reached
}
