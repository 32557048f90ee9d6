import type { FieldType } from '../contacts/contact-field.ts'
import { mostFields } from '../contacts/contact-fields.ts'
import { statement } from '../statement.ts'

/**
 * What the latest hundred events of a name carry, each of the commonest fields with its commonest type.
 * $1 project, $2 name
 */
export const eventFields = statement<{ field: string; type: FieldType }>(
	'event-fields',
	`select field, type from (
		select field, type from (
			select distinct on (key) key as field, type, sum(count) over (partition by key) as total
			from (
				select key, contact_field_type(value) as type, count(*) as count
				from (
					select data from events where project_id = $1 and name = $2::text
					order by created_at desc limit 100
				) latest, jsonb_each(data)
				where key <> '' and value <> 'null'
				group by 1, 2
			) counted
			order by key, count desc, type
		) fields
		order by total desc, field limit ${mostFields}
	) commonest
	order by field`,
)
