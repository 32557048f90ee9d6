import { automationsWhere } from '../automations/automation-usage.ts'
import { statement } from '../statement.ts'

export interface Named {
	id: string
	name: string
}

/**
 * Whether a condition tree (jsonb) names a field, itself or something inside its objects. Only custom
 * fields are objects: what begins with `email.` is an activity, not the address.
 */
const namesField = (condition: string, field: string) => `exists (
	select from jsonb_path_query(${condition}, '$.**.field') as named
	where named #>> '{}' = ${field}
		or $2::text like 'data.%' and starts_with(named #>> '{}', ${field} || '.'))`

/** A step compares a field by one of its names, or writes it. */
const stepsWithField = `s.type = 'CONDITION' and (${namesField('s.config', '$2::text')}
		or ${namesField('s.config', `'contact.' || $2::text`)}
		or $2::text like 'data.%' and ${namesField('s.config', `'contact.' || substr($2::text, 6)`)})
	or s.type = 'UPDATE_CONTACT' and $2::text like 'data.%' and s.config -> 'data' ? substr($2::text, 6)`

/**
 * Where a project's conditions name a field of contacts, as conditions write it: `email`, `data.plan`.
 * Campaigns that are over need it no more. $1 project, $2 field
 */
export const fieldUsage = statement<{
	usedInSegments: Named[]
	usedInCampaigns: Named[]
	usedInWorkflows: Named[]
}>(
	'field-usage',
	`select
		(select coalesce(json_agg(json_build_object('id', id, 'name', name) order by name, id), '[]')
			from segments where project_id = $1 and ${namesField('condition', '$2::text')}
		) as "usedInSegments",
		(select coalesce(json_agg(json_build_object('id', id, 'name', name) order by name, id), '[]')
			from campaigns where project_id = $1 and status in ('DRAFT', 'SCHEDULED', 'SENDING')
				and ${namesField('audience_condition', '$2::text')}
		) as "usedInCampaigns",
		${automationsWhere('false', stepsWithField)} as "usedInWorkflows"`,
)
