import { automationsWhere } from '../automations/automation-usage.ts'
import { statement } from '../statement.ts'

export interface EventUsage {
	usedInSegments: { id: string; name: string }[]
	/** Those that are not over. */
	usedInCampaigns: { id: string; name: string }[]
	/** What the API calls workflows: those that start with the event, wait for it or ask for it. */
	usedInWorkflows: { id: string; name: string }[]
	/** By the clock that stamps events. */
	askedAt: Date
}

const stepsWithEvent = `s.type = 'WAIT_FOR_EVENT' and s.config ->> 'eventName' = $2::text
	or s.type = 'CONDITION' and jsonb_path_exists(s.config, '$.groups.**.field ? (@ == $field)',
		jsonb_build_object('field', 'event.' || $2::text))`

/** Where a project refers to an event by its name. $1 project, $2 name */
export const eventUsage = statement<EventUsage>(
	'event-usage',
	`select
		(select coalesce(json_agg(json_build_object('id', id, 'name', name) order by name, id), '[]')
			from segments where project_id = $1 and jsonb_path_exists(condition,
				'$.**.field ? (@ == $field)', jsonb_build_object('field', 'event.' || $2::text)))
			as "usedInSegments",
		(select coalesce(json_agg(json_build_object('id', id, 'name', name) order by name, id), '[]')
			from campaigns where project_id = $1 and status in ('DRAFT', 'SCHEDULED', 'SENDING')
				and jsonb_path_exists(audience_condition, '$.**.field ? (@ == $field)',
					jsonb_build_object('field', 'event.' || $2::text)))
			as "usedInCampaigns",
		${automationsWhere(`a.trigger_type = 'EVENT' and a.event_name = $2::text`, stepsWithEvent)}
			as "usedInWorkflows",
		now() as "askedAt"`,
)
