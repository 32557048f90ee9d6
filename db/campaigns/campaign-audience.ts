import type { Pool, PoolClient } from 'pg'
import { compileFor } from '../conditions/condition-segments.ts'
import type { CompiledCondition } from '../conditions/condition-sql.ts'
import type { Condition } from '../conditions/condition.ts'
import { statement } from '../statement.ts'

/** Whom a campaign is for. */
export interface Audience {
	type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
	audienceType: 'ALL' | 'SEGMENT' | 'FILTERED'
	segmentId: string | null
	audienceCondition: Condition | null
}

/** $1 project, $2 segment */
const segmentCondition = statement<{ type: string; condition: Condition }>(
	'segment-condition',
	'select type, condition from segments where project_id = $1 and id = $2::uuid',
)

/**
 * As a condition; null: everybody. A dynamic segment's members are those it finds now, as its list shows
 * them: what is stored of a tracked one may be some minutes old.
 */
async function conditionOf(db: Pool | PoolClient, projectId: string, audience: Audience) {
	const { audienceType, segmentId, audienceCondition } = audience
	if (audienceType !== 'SEGMENT') return audienceType === 'ALL' ? null : audienceCondition
	const [segment] = await segmentCondition(db, [projectId, segmentId])
	return segment?.type === 'DYNAMIC' ? segment.condition : storedMembers(segmentId)
}

const storedMembers = (segmentId: string | null): Condition => ({
	logic: 'AND',
	groups: [{ filters: [{ field: `segment.${segmentId}`, operator: 'memberOfSegment' }] }],
})

/**
 * A predicate on contacts `c`, whose parameters begin behind `before` others: they are of the audience,
 * want such mail, and their address takes mail at all.
 */
export async function audiencePredicate(
	db: Pool | PoolClient,
	projectId: string,
	audience: Audience,
	before: number,
	now?: Date,
): Promise<{ sql: string; parameters: unknown[] }> {
	const condition = await conditionOf(db, projectId, audience)
	const compiled: CompiledCondition | null =
		condition && (await compileFor(db, projectId, condition, now))
	const parts = [
		...(audience.type === 'TRANSACTIONAL' ? [] : ['c.subscribed']),
		`not exists (select from suppressions s where s.project_id = c.project_id and s.email = c.email)`,
		...(compiled ? [compiled.sql('c', before + 1)] : []),
	]
	return { sql: parts.join(' and '), parameters: compiled?.parameters ?? [] }
}

export async function countAudience(
	db: Pool | PoolClient,
	projectId: string,
	audience: Audience,
): Promise<number> {
	const { sql, parameters } = await audiencePredicate(db, projectId, audience, 1)
	const { rows } = await db.query<{ count: number }>(
		`select count(*)::int as count from contacts c where c.project_id = $1 and ${sql}`,
		[projectId, ...parameters],
	)
	return rows[0]!.count
}
