import type { FieldType } from '../contacts/contact-field.ts'
import { mostFields } from '../contacts/contact-fields.ts'
import { statement } from '../statement.ts'
import { talliedEvents } from './event-queries.ts'

const fieldsOf = (latest: string) =>
	`select field, type from (
		select field, type from (
			select distinct on (key) key as field, type, sum(count) over (partition by key) as total
			from (
				select key, contact_field_type(value) as type, count(*) as count
				from (${latest}) latest, jsonb_each(data)
				where key <> '' and value <> 'null'
				group by 1, 2
			) counted
			order by key, count desc, type
		) fields
		order by total desc, field limit ${mostFields}
	) commonest
	order by field`

/**
 * The fields of the latest hundred events of a name, each of the commonest with its commonest type.
 * $1 project, $2 name
 */
export const eventFields = statement<{ field: string; type: FieldType }>(
	'event-fields',
	fieldsOf(`select data from events where project_id = $1 and name = $2::text
		order by created_at desc limit 100`),
)

/** The same for the latest ten events of each of the twenty commonest names. $1 project */
export const commonestEventFields = statement<{ field: string; type: FieldType }>(
	'commonest-event-fields',
	fieldsOf(`select e.data from (
			select name from ${talliedEvents} group by name having sum(count) > 0
			order by sum(count) desc, name limit 20
		) names cross join lateral (
			select data from events where project_id = $1 and name = names.name
			order by created_at desc limit 10
		) e`),
)
