import type { Pool, PoolClient } from 'pg'
import { automationsWhere } from '../automations/automation-usage.ts'
import { statement } from '../statement.ts'
import { slugOf } from './segment-slug.ts'

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

/** $1 project, $2 names of events */
const workflowsWithEvents = statement<{ workflows: SegmentUses['workflows'] }>(
	'workflows-with-events',
	`select ${automationsWhere(
		`a.trigger_type = 'EVENT' and a.event_name = any($2::text[])`,
		`s.type = 'WAIT_FOR_EVENT' and s.config ->> 'eventName' = any($2::text[])`,
	)} as workflows`,
)

const eventsOf = (segment: { id: string; name: string }) =>
	['entry', 'exit'].map((happening) => `segment.${slugOf(segment)}.${happening}`)

/** The workflows that start with a segment's entry or exit, or wait for it. */
export async function workflowsWithEventsOf(
	db: Pool | PoolClient,
	projectId: string,
	segment: { id: string; name: string },
) {
	const [found] = await workflowsWithEvents(db, [projectId, eventsOf(segment)])
	return found!.workflows
}

/** $1 project */
const segmentNames = statement<{ id: string; name: string; trackMembership: boolean }>(
	'segment-names',
	`select id, name, track_membership as "trackMembership" from segments where project_id = $1`,
)

/** Which segment emits an event of such a name; null: none does. Other names are not in the answer. */
export async function segmentsOfEvents(
	db: Pool | PoolClient,
	projectId: string,
	eventNames: string[],
) {
	const asked = eventNames.filter((name) => name.startsWith('segment.'))
	if (asked.length === 0) return new Map<string, null>()
	const segments = await segmentNames(db, [projectId])
	// Of two of one name, one that tracks its members is enough.
	segments.sort((a, b) => Number(a.trackMembership) - Number(b.trackMembership))
	const known = new Map(
		segments.flatMap((segment) => eventsOf(segment).map((name) => [name, segment] as const)),
	)
	return new Map(asked.map((name) => [name, known.get(name) ?? null]))
}

/** What would lose its meaning without the segment: campaigns that are not over, workflows, segments. */
export async function segmentUses(
	db: Pool | PoolClient,
	projectId: string,
	segment: { id: string; name: string },
): Promise<SegmentUses> {
	const { id } = segment
	const segments = await segmentsWithField(db, [projectId, `segment.${id}`])
	const campaigns = await campaignsWithSegment(db, [projectId, id, `segment.${id}`])
	const [found] = await workflowsWithSegment(db, [projectId, id, `segment.${id}`])
	const heard = await workflowsWithEventsOf(db, projectId, segment)
	const workflows = [...new Map([...found!.workflows, ...heard].map((w) => [w.id, w])).values()]
	return { segments, campaigns, workflows }
}
