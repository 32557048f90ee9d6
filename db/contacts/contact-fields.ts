import { bool, int, json, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import type { FieldType } from './contact-field.ts'

// Both read folded and unfolded counts in one statement: together they are exact.

export type FieldCount = RowOf<typeof countFields>

/**
 * Users name far fewer, but a caller who may track events can create thousands of fields with each event.
 */
export const mostFields = 5000

/** The most frequent fields, and the number of contacts. */
export const countFields = statement('count-fields', {
	params: { projectId: uuid },
	row: {
		/** '': the contacts themselves. */
		key: text,
		type: text.of<FieldType>(),
		count: int,
		/** Changes of all fields that are not folded yet. */
		waiting: int,
	},
	text: `with changes as (
		select key, type, count from contact_field_changes where project_id = $projectId
	), counts as (
		select key, type, sum(count)::int as count from (
			select key, type, count from contact_fields where project_id = $projectId
			union all
			select key, type, count from changes
		) both_of_them
		group by key, type having sum(count) > 0
	), commonest as (
		select key from counts group by key
		order by key = '' desc, sum(count) desc, key limit ${mostFields + 1}
	)
	select key, type, count, (select count(*)::int from changes) as waiting
	from counts join commonest using (key)
	order by key, count desc, type`,
})

/** The number of contacts that have a field; for '', the number of all contacts. */
export const countField = statement('count-field', {
	params: { projectId: uuid, field: text },
	row: { count: int },
	text: `select coalesce(sum(count), 0)::int as count from (
		select count from contact_fields where project_id = $projectId and key = $field::text
		union all
		select count from contact_field_changes where project_id = $projectId and key = $field::text
	) counts`,
})

/** The numbers of subscribed and unsubscribed contacts. */
export const countContacts = statement('count-contacts', {
	params: { projectId: uuid },
	row: { subscribed: bool, count: int },
	text: `select value::bool as subscribed, sum(count)::int as count from (
		select value, count from contact_field_values where project_id = $projectId and key = ''
		union all
		select value, count from contact_field_changes where project_id = $projectId and key = ''
	) counts group by value`,
})

/** The smallest values: texts, then numbers, then booleans. Each type is exact up to its bound. */
export const listFieldValues = statement('list-field-values', {
	params: { projectId: uuid, field: text, limit: int },
	row: {
		values: json<(string | number | boolean)[]>(),
		/** false: so many values were removed that the kept ones don't fill the list. */
		isComplete: bool,
	},
	text: `with changes as (
		select type, value, count, bound from contact_field_changes where project_id = $projectId
			and key = $field::text
	), bounds as (
		select type, (array_agg(bound order by bound) filter (where bound is not null))[1] as bound
		from (
			select type, bound from contact_fields where project_id = $projectId and key = $field::text
			union all
			select type, bound from changes
		) b group by type
	), counted as (
		select type, value from (
			select type, value, count from contact_field_values where project_id = $projectId
				and key = $field::text
			union all
			select type, value, count from changes where value is not null
		) v group by type, value having sum(count) > 0
	), known as (
		select counted.* from counted join bounds using (type)
		where bound is null or value <= bound
	)
	select
		coalesce((select jsonb_agg(value order by value) from (
			select value from known order by value limit $limit::int) v), '[]') as values,
		not exists (select from bounds where bound is not null
			and (select count(*) from known
				where known.type = bounds.type) < $limit::int) as "isComplete"`,
})

/** Waits for another process that folds or recounts the counts of fields, and then finds its result. */
export const holdFields = statement('hold-contact-fields', {
	params: { projectId: text },
	text: `select pg_advisory_xact_lock(hashtextextended('contact fields of ' || $projectId::text, 0))`,
})

export const recountField = statement('recount-field', {
	params: { projectId: uuid, field: text },
	text: 'select recount_contact_field($projectId::uuid, $field::text)',
})

export const foldFields = statement('fold-fields', {
	params: { projectId: uuid },
	text: 'select fold_contact_fields($projectId::uuid)',
})

/**
 * Looks at the next contacts, of which a few or all may have the field, and takes it from some of them. `last` is the
 * contact up to which that is done; null: there are no more. One statement, which walks the primary key.
 */
export const deleteField = statement('delete-field', {
	params: { projectId: uuid, field: text, after: uuid, looks: int, changes: int },
	row: { count: int, last: uuid.orNull },
	text: `with looked as (
		select id from (
			select id from contacts where project_id = $projectId and id > $after::uuid
			order by id limit $looks::int
		) next order by id desc limit 1
	), having_it as (
		select id from contacts where project_id = $projectId and id > $after::uuid
			and id <= (select id from looked) and data ? $field::text
		order by id limit $changes::int for no key update
	), changed as (
		update contacts c set data = c.data - $field::text, updated_at = now()
		from having_it h where c.project_id = $projectId and c.id = h.id and c.data ? $field::text
		returning 1
	)
	select (select count(*)::int from changed) as count,
		case when (select count(*) from having_it) < $changes::int then (select id from looked)
			else (select id from having_it order by id desc limit 1) end as last`,
})
