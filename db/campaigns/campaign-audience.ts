import type { Pool, PoolClient } from 'pg'
import { compileFor } from '../conditions/condition-segments.ts'
import { type Condition, membersOf } from '../conditions/condition.ts'
import { compileFrozen, freeze, type FrozenCondition } from '../conditions/frozen-condition.ts'
import { lockReferences } from '../segments/segment-records.ts'
import { int, json, type RowOf, text, uuid } from '../sql-types.ts'
import { joined, query, sql, type Sql } from '../sql.ts'
import { statement } from '../statement.ts'
import type { CampaignKey } from './campaign-actions.ts'

/** The audience of a campaign. */
export const audienceColumns = {
	type: text.of<'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'>(),
	audienceType: text.of<'ALL' | 'SEGMENT' | 'FILTERED'>(),
	segmentId: uuid.orNull,
	audienceCondition: json<Condition>().orNull,
	/** The audience as it was at the start; null: the campaign has not started, or started long ago. */
	frozenAudience: json<FrozenCondition>().orNull,
}
type FrozenAudience = RowOf<typeof audienceColumns>
export type Audience = Omit<FrozenAudience, 'frozenAudience'> & Partial<FrozenAudience>

export const selectAudience = `type, audience_type as "audienceType", segment_id as "segmentId",
	audience_condition as "audienceCondition", frozen_audience as "frozenAudience"`

const segmentCondition = statement('segment-condition', {
	params: { projectId: uuid, segmentId: uuid },
	row: {
		type: text,
		condition: json<Condition>().notNull('only read of dynamic segments, which have one'),
	},
	text: 'select type, condition from segments where project_id = $projectId and id = $segmentId::uuid',
})

/**
 * The audience as a condition; null: every contact. A dynamic segment is evaluated now, as its list is;
 * the stored members of a tracked segment may be some minutes old.
 */
async function conditionOf(db: Pool | PoolClient, projectId: string, audience: Audience) {
	const { audienceType, segmentId, audienceCondition } = audience
	if (audienceType !== 'SEGMENT') return audienceType === 'ALL' ? null : audienceCondition
	const [segment] = await segmentCondition(db, { projectId, segmentId: segmentId! })
	return segment?.type === 'DYNAMIC' ? segment.condition : membersOf(segmentId!)
}

const audienceOf = statement('audience-of-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	row: audienceColumns,
	text: `select ${selectAudience} from campaigns where project_id = $projectId and id = $campaignId`,
})

const keepAudience = statement('keep-audience-of-campaign', {
	params: { projectId: uuid, campaignId: uuid, condition: json<FrozenCondition>() },
	text: 'update campaigns set frozen_audience = $condition::jsonb where project_id = $projectId and id = $campaignId',
})

/**
 * Fixes the audience, in the transaction that starts the campaign. Creating the recipients may take hours,
 * and an edit of a segment meanwhile must not apply to half of them.
 */
export async function freezeAudience(db: PoolClient, { projectId, campaignId }: CampaignKey) {
	await lockReferences(db, { projectId })
	const [audience] = await audienceOf(db, { projectId, campaignId })
	const frozen = await freeze(db, projectId, await conditionOf(db, projectId, audience!))
	await keepAudience(db, { projectId, campaignId, condition: frozen })
}

/** Null: every contact. */
async function compilePresent(
	db: Pool | PoolClient,
	projectId: string,
	audience: Audience,
	now?: Date,
) {
	const condition = await conditionOf(db, projectId, audience)
	return condition && compileFor(db, projectId, condition, now)
}

/** A predicate on contacts `c`: they belong to the audience and accept this type of mail. */
async function membersPredicate(
	db: Pool | PoolClient,
	projectId: string,
	audience: Audience,
	now?: Date,
): Promise<Sql[]> {
	const compiled = audience.frozenAudience
		? await compileFrozen(db, projectId, audience.frozenAudience, now)
		: await compilePresent(db, projectId, audience, now)
	return [
		...(audience.type === 'TRANSACTIONAL' ? [] : [sql`c.subscribed`]),
		...(compiled ? [compiled] : []),
	]
}

/** The same, and their address is not suppressed. */
export async function audiencePredicate(
	...given: Parameters<typeof membersPredicate>
): Promise<Sql> {
	const parts = [
		...(await membersPredicate(...given)),
		// Looked up one by one like the parts of conditions, whatever the planner knows.
		sql`not exists (select from suppressions s where s.project_id = c.project_id and s.email = c.email
			offset 0)`,
	]
	return joined(parts, ' and ')
}

const count = query('count-audience', { count: int })

/**
 * All members without the suppressed ones. There are few of those: looking each contact up among them takes
 * several times longer.
 */
export async function countAudience(db: Pool | PoolClient, projectId: string, audience: Audience) {
	const ofProject = sql`c.project_id = ${uuid.value(projectId)}`
	const members = joined([ofProject, ...(await membersPredicate(db, projectId, audience))], ' and ')
	const [found] = await count(
		db,
		sql`select ((select count(*) from contacts c where ${members}) - (
				select count(*) from suppressions s
				join contacts c on c.project_id = s.project_id and c.email = s.email
				where s.project_id = ${uuid.value(projectId)} and ${members}
			))::int as count`,
	)
	return found!.count
}
