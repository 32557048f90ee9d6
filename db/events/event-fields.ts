import type { FieldType } from '../contacts/contact-field.ts'
import { mostFields } from '../contacts/contact-fields.ts'
import { text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { newestNamed } from './newest-events.ts'

const newest = (
	name: string,
	most: number,
) => `select event_data(name, data, project_id, email_id) as data from (
		${newestNamed(name, 'id, name, data, project_id, email_id, created_at', `${most}`)}
	) happened order by created_at desc limit ${most}`

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
 * The fields of the latest hundred events of a name, each most frequent field with its most frequent type.
 */
export const eventFields = statement('event-fields', {
	params: { projectId: uuid, eventName: text },
	row: { field: text, type: text.of<FieldType>() },
	text: fieldsOf(newest('$eventName::text', 100)),
})

/** The same for the latest ten events of each of the twenty most frequent names. */
export const commonestEventFields = statement('commonest-event-fields', {
	params: { projectId: uuid },
	row: { field: text, type: text.of<FieldType>() },
	text: fieldsOf(`select e.data from (
			select name from counted_events($projectId) t group by name having sum(count) > 0
			order by sum(count) desc, name limit 20
		) names cross join lateral (${newest('names.name', 10)}) e`),
})
