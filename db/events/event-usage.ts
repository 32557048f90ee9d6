import { automationsWhere } from '../automations/automation-usage.ts'
import { json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

const stepsWithEvent = `s.type = 'WAIT_FOR_EVENT' and s.config ->> 'eventName' = $eventName::text
	or s.type = 'CONDITION' and jsonb_path_exists(s.config, '$.groups.**.field ? (@ == $field)',
		jsonb_build_object('field', 'event.' || $eventName::text))`

/** The places where a project refers to an event by its name. */
export const eventUsage = statement('event-usage', {
	params: { projectId: uuid, eventName: text },
	row: {
		usedInSegments: json<{ id: string; name: string }[]>(),
		/** Campaigns that have not ended. */
		usedInCampaigns: json<{ id: string; name: string }[]>(),
		/** Workflows (as the API calls them) that start with the event, wait for it or ask for it. */
		usedInWorkflows: json<{ id: string; name: string }[]>(),
		/** By the same clock as the times of events. */
		askedAt: timestamp,
	},
	text: `select
		(select coalesce(json_agg(json_build_object('id', id, 'name', name) order by name, id), '[]')
			from segments where project_id = $projectId and jsonb_path_exists(condition,
				'$.**.field ? (@ == $field)',
					jsonb_build_object('field', 'event.' || $eventName::text)))
			as "usedInSegments",
		(select coalesce(json_agg(json_build_object('id', id, 'name', name) order by name, id), '[]')
			from campaigns where project_id = $projectId and status in ('DRAFT', 'SCHEDULED', 'SENDING')
				and jsonb_path_exists(audience_condition, '$.**.field ? (@ == $field)',
					jsonb_build_object('field', 'event.' || $eventName::text)))
			as "usedInCampaigns",
		${automationsWhere(`a.trigger_type = 'EVENT' and a.event_name = $eventName::text`, stepsWithEvent)}
			as "usedInWorkflows",
		now() as "askedAt"`,
})
