import type { Pool, PoolClient } from 'pg'
import { automationsWhere } from '../automations/automation-usage.ts'
import { statement } from '../statement.ts'

export interface SegmentUses {
	segments: { id: string; name: string }[]
	campaigns: { id: string; name: string }[]
	workflows: { id: string; name: string }[]
}

/** $1 project, $2 a field as conditions write it, in lower case */
const segmentsWithField = statement<{ id: string; name: string }>(
	'segments-with-field',
	`select id, name from segments where project_id = $1 and exists (
		select from jsonb_path_query(condition, '$.**.field') as f(field)
		where lower(field #>> '{}') = $2::text)
	order by name, id`,
)

/**
 * Also those that set down their recipients by what it was when they started.
 * $1 project, $2 segment, $3 as a condition writes it
 */
const campaignsWithSegment = statement<{ id: string; name: string }>(
	'campaigns-with-segment',
	`select id, name from campaigns
	where project_id = $1 and status in ('DRAFT', 'SCHEDULED', 'SENDING') and (segment_id = $2::uuid
		or exists (select from jsonb_path_query(audience_condition, '$.**.field') as f(field)
			where lower(field #>> '{}') = $3::text)
		or materialised_at is null and frozen_audience -> 'segments' ? ($2::uuid)::text)
	order by name, id`,
)

/**
 * Also those that begin people at this moment by what it was when they started.
 * $1 project, $2 segment, $3 as a condition writes it
 */
const workflowsWithSegment = statement<{ workflows: SegmentUses['workflows'] }>(
	'workflows-with-segment',
	`select ${automationsWhere(
		`a.segment_id = $2::uuid or a.id in (
			select automation_id from enrolments
			where project_id = $1 and ended_at is null and audience -> 'segments' ? ($2::uuid)::text)`,
		`s.type = 'CONDITION' and exists (
			select from jsonb_path_query(s.config, '$.**.field') as f(field)
			where lower(field #>> '{}') = $3::text)`,
	)} as workflows`,
)

/** What would lose its meaning without the segment: campaigns that are not over, workflows, segments. */
export async function segmentUses(
	db: Pool | PoolClient,
	projectId: string,
	id: string,
): Promise<SegmentUses> {
	const segments = await segmentsWithField(db, [projectId, `segment.${id}`])
	const campaigns = await campaignsWithSegment(db, [projectId, id, `segment.${id}`])
	const [found] = await workflowsWithSegment(db, [projectId, id, `segment.${id}`])
	return { segments, campaigns, workflows: found!.workflows }
}
