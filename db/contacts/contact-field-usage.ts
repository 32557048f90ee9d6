import { automationsWhere } from '../automations/automation-usage.ts'
import { json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

export interface Named {
	id: string
	name: string
}

/**
 * Whether a condition tree (jsonb) names a field, or a member of its objects. Only custom fields can be
 * objects: a field that starts with `email.` is an activity, not the address.
 */
const namesField = (condition: string, field: string) => `exists (
	select from jsonb_path_query(${condition}, '$.**.field') as named
	where named #>> '{}' = ${field}
		or $field::text like 'data.%' and starts_with(named #>> '{}', ${field} || '.'))`

/** A step that compares a field, under any of its names, or writes it. */
const stepsWithField = `s.type = 'CONDITION' and (${namesField('s.config', '$field::text')}
		or ${namesField('s.config', `'contact.' || $field::text`)}
		or $field::text like 'data.%'
			and ${namesField('s.config', `'contact.' || substr($field::text, 6)`)})
	or s.type = 'UPDATE_CONTACT' and $field::text like 'data.%'
		and s.config -> 'data' ? substr($field::text, 6)`

/**
 * Where a project's conditions refer to a contact field, by its name in conditions: `email`, `data.plan`.
 * Campaigns that have ended no longer count.
 */
export const fieldUsage = statement('field-usage', {
	params: { projectId: uuid, field: text },
	row: {
		usedInSegments: json<Named[]>(),
		usedInCampaigns: json<Named[]>(),
		usedInWorkflows: json<Named[]>(),
	},
	text: `select
		(select coalesce(json_agg(json_build_object('id', id, 'name', name) order by name, id), '[]')
			from segments where project_id = $projectId and ${namesField('condition', '$field::text')}
		) as "usedInSegments",
		(select coalesce(json_agg(json_build_object('id', id, 'name', name) order by name, id), '[]')
			from campaigns where project_id = $projectId and status in ('DRAFT', 'SCHEDULED', 'SENDING')
				and ${namesField('audience_condition', '$field::text')}
		) as "usedInCampaigns",
		${automationsWhere('false', stepsWithField)} as "usedInWorkflows"`,
})
