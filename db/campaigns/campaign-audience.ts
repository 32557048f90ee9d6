import type { Pool, PoolClient } from 'pg'
import { compileFor } from '../conditions/condition-segments.ts'
import { type Condition, membersOf } from '../conditions/condition.ts'
import { compileFrozen, freeze, type FrozenCondition } from '../conditions/frozen-condition.ts'
import { lockReferences } from '../segments/segment-records.ts'
import { statement } from '../statement.ts'
import type { CampaignKey } from './campaign-actions.ts'

/** Whom a campaign is for. */
export interface Audience {
	type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
	audienceType: 'ALL' | 'SEGMENT' | 'FILTERED'
	segmentId: string | null
	audienceCondition: Condition | null
	/** What the rest meant at the start; null: it has not begun, or long ago. */
	frozenAudience?: FrozenCondition | null
}

export const audienceColumns = `type, audience_type as "audienceType", segment_id as "segmentId",
	audience_condition as "audienceCondition", frozen_audience as "frozenAudience"`

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
	return segment?.type === 'DYNAMIC' ? segment.condition : membersOf(segmentId!)
}

/** $1 project, $2 campaign */
const audienceOf = statement<Audience>(
	'audience-of-campaign',
	`select ${audienceColumns} from campaigns where project_id = $1 and id = $2`,
)

/** $1 project, $2 campaign, $3 FrozenCondition */
const keepAudience = statement(
	'keep-audience-of-campaign',
	'update campaigns set frozen_audience = $3::jsonb where project_id = $1 and id = $2',
)

/**
 * Whom the audience means from now on: for the transaction that starts the campaign. Its recipients may
 * be set down for hours, and an edit of a segment meanwhile is not for half of them.
 */
export async function freezeAudience(db: PoolClient, { projectId, campaignId }: CampaignKey) {
	await lockReferences(db, [projectId])
	const [audience] = await audienceOf(db, [projectId, campaignId])
	const frozen = await freeze(db, projectId, await conditionOf(db, projectId, audience!))
	await keepAudience(db, [projectId, campaignId, JSON.stringify(frozen)])
}

/** Null: everybody. */
async function compilePresent(
	db: Pool | PoolClient,
	projectId: string,
	audience: Audience,
	now?: Date,
) {
	const condition = await conditionOf(db, projectId, audience)
	return condition && compileFor(db, projectId, condition, now)
}

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
	const compiled = audience.frozenAudience
		? await compileFrozen(db, projectId, audience.frozenAudience, now)
		: await compilePresent(db, projectId, audience, now)
	const parts = [
		...(audience.type === 'TRANSACTIONAL' ? [] : ['c.subscribed']),
		// As conditions look up what they ask of: one by one, whatever the planner knows.
		`not exists (select from suppressions s where s.project_id = c.project_id and s.email = c.email
			offset 0)`,
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
