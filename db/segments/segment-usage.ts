import type { Pool, PoolClient } from 'pg'
import { automationsWhere } from '../automations/automation-usage.ts'
import { bool, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { slugOf } from './segment-slug.ts'

export interface SegmentUses {
	segments: { id: string; name: string }[]
	campaigns: { id: string; name: string }[]
	workflows: { id: string; name: string }[]
}

const segmentsWithField = statement('segments-with-field', {
	params: {
		projectId: uuid,
		/** As conditions write it, in lower case. */
		field: text,
	},
	row: { id: uuid, name: text },
	text: `select id, name from segments where project_id = $projectId and exists (
		select from jsonb_path_query(condition, '$.**.field') as f(field)
		where lower(field #>> '{}') = $field::text)
	order by name, id`,
})

/** Includes campaigns that are creating their recipients from the segment's state at their start. */
const campaignsWithSegment = statement('campaigns-with-segment', {
	params: { projectId: uuid, segmentId: uuid, field: text },
	row: { id: uuid, name: text },
	text: `select id, name from campaigns
	where project_id = $projectId and status in ('DRAFT', 'SCHEDULED', 'SENDING')
		and (segment_id = $segmentId::uuid
		or exists (select from jsonb_path_query(audience_condition, '$.**.field') as f(field)
			where lower(field #>> '{}') = $field::text)
		or materialised_at is null and frozen_audience -> 'segments' ? ($segmentId::uuid)::text)
	order by name, id`,
})

/** Includes workflows that are enrolling contacts from the segment's state at their start. */
const workflowsWithSegment = statement('workflows-with-segment', {
	params: { projectId: uuid, segmentId: uuid, field: text },
	row: { workflows: json<SegmentUses['workflows']>() },
	text: `select ${automationsWhere(
		`a.segment_id = $segmentId::uuid or a.id in (
			select automation_id from enrolments
			where project_id = $projectId and ended_at is null
				and audience -> 'segments' ? ($segmentId::uuid)::text)`,
		`s.type = 'CONDITION' and exists (
			select from jsonb_path_query(s.config, '$.**.field') as f(field)
			where lower(field #>> '{}') = $field::text)`,
	)} as workflows`,
})

const workflowsWithEvents = statement('workflows-with-events', {
	params: { projectId: uuid, eventNames: text.array },
	row: { workflows: json<SegmentUses['workflows']>() },
	text: `select ${automationsWhere(
		`a.trigger_type = 'EVENT' and a.event_name = any($eventNames::text[])`,
		`s.type = 'WAIT_FOR_EVENT' and s.config ->> 'eventName' = any($eventNames::text[])`,
	)} as workflows`,
})

const eventsOf = (segment: { id: string; name: string }) =>
	['entry', 'exit'].map((happening) => `segment.${slugOf(segment)}.${happening}`)

/** The workflows that start with a segment's entry or exit, or wait for it. */
export async function workflowsWithEventsOf(
	db: Pool | PoolClient,
	projectId: string,
	segment: { id: string; name: string },
) {
	const [found] = await workflowsWithEvents(db, { projectId, eventNames: eventsOf(segment) })
	return found!.workflows
}

const segmentNames = statement('segment-names', {
	params: { projectId: uuid },
	row: { id: uuid, name: text, trackMembership: bool },
	text: `select id, name, track_membership as "trackMembership" from segments
		where project_id = $projectId`,
})

/**
 * The segment that emits an event of a given name; null: no segment does. Names of other forms are left
 * out.
 */
export async function segmentsOfEvents(
	db: Pool | PoolClient,
	projectId: string,
	eventNames: string[],
) {
	const asked = eventNames.filter((name) => name.startsWith('segment.'))
	if (asked.length === 0) return new Map<string, null>()
	const segments = await segmentNames(db, { projectId })
	// Of two segments with the same name, it is enough if one tracks its members.
	segments.sort((a, b) => Number(a.trackMembership) - Number(b.trackMembership))
	const known = new Map(
		segments.flatMap((segment) => eventsOf(segment).map((name) => [name, segment] as const)),
	)
	return new Map(asked.map((name) => [name, known.get(name) ?? null]))
}

/** The users of a segment that prevent its deletion: campaigns that have not ended, workflows, segments. */
export async function segmentUses(
	db: Pool | PoolClient,
	projectId: string,
	segment: { id: string; name: string },
): Promise<SegmentUses> {
	const { id } = segment
	const segments = await segmentsWithField(db, { projectId, field: `segment.${id}` })
	const campaigns = await campaignsWithSegment(db, {
		projectId,
		segmentId: id,
		field: `segment.${id}`,
	})
	const [found] = await workflowsWithSegment(db, {
		projectId,
		segmentId: id,
		field: `segment.${id}`,
	})
	const heard = await workflowsWithEventsOf(db, projectId, segment)
	const workflows = [...new Map([...found!.workflows, ...heard].map((w) => [w.id, w])).values()]
	return { segments, campaigns, workflows }
}
