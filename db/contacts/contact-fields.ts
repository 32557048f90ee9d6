import { statement } from '../statement.ts'
import type { FieldType } from './contact-field.ts'

// Both read what is folded and what is not yet in one statement: together they are exact.

export interface FieldCount {
	/** '': the contacts themselves. */
	key: string
	type: FieldType
	count: number
	/** Changes that wait to be folded, of all fields. */
	waiting: number
}

/** Nobody names more, but who may track events can write thousands of new ones with each. */
export const mostFields = 5000

/** Of the commonest fields, and of the contacts themselves. $1 project */
export const countFields = statement<FieldCount>(
	'count-fields',
	`with changes as (
		select key, type, count from contact_field_changes where project_id = $1
	), counts as (
		select key, type, sum(count)::int as count from (
			select key, type, count from contact_fields where project_id = $1
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
)

/** How many contacts have a field; of '', how many there are. $1 project, $2 field */
export const countField = statement<{ count: number }>(
	'count-field',
	`select coalesce(sum(count), 0)::int as count from (
		select count from contact_fields where project_id = $1 and key = $2::text
		union all
		select count from contact_field_changes where project_id = $1 and key = $2::text
	) counts`,
)

/** How many contacts are subscribed, and how many are not. $1 project */
export const countContacts = statement<{ subscribed: boolean; count: number }>(
	'count-contacts',
	`select value::bool as subscribed, sum(count)::int as count from (
		select value, count from contact_field_values where project_id = $1 and key = ''
		union all
		select value, count from contact_field_changes where project_id = $1 and key = ''
	) counts group by value`,
)

export interface FieldValues {
	values: (string | number | boolean)[]
	/** false: values went, and what is kept does not reach far enough any more. */
	isComplete: boolean
}

/**
 * The smallest values: texts, then numbers, then booleans, each type exact up to its bound.
 * $1 project, $2 field, $3 how many
 */
export const listFieldValues = statement<FieldValues>(
	'list-field-values',
	`with changes as (
		select type, value, count, bound from contact_field_changes where project_id = $1 and key = $2::text
	), bounds as (
		select type, (array_agg(bound order by bound) filter (where bound is not null))[1] as bound
		from (
			select type, bound from contact_fields where project_id = $1 and key = $2::text
			union all
			select type, bound from changes
		) b group by type
	), counted as (
		select type, value from (
			select type, value, count from contact_field_values where project_id = $1 and key = $2::text
			union all
			select type, value, count from changes where value is not null
		) v group by type, value having sum(count) > 0
	), known as (
		select counted.* from counted join bounds using (type)
		where bound is null or value <= bound
	)
	select
		coalesce((select jsonb_agg(value order by value) from (
			select value from known order by value limit $3::int) v), '[]') as values,
		not exists (select from bounds where bound is not null
			and (select count(*) from known where known.type = bounds.type) < $3::int) as "isComplete"`,
)

/** $1 project, $2 field */
export const recountField = statement(
	'recount-field',
	'select recount_contact_field($1::uuid, $2::text)',
)

/** $1 project */
export const foldFields = statement('fold-fields', 'select fold_contact_fields($1::uuid)')

/** $1 project, $2 field: rows of one contact each. $3 how many at most, in the order of ids after $4 */
export const deleteField = statement<{ count: number; last: string | null }>(
	'delete-field',
	`with having_it as (
		select id from contacts where project_id = $1 and id > $4::uuid and data ? $2::text
		order by id limit $3::int for no key update
	), changed as (
		update contacts c set data = c.data - $2::text, updated_at = now()
		from having_it h where c.project_id = $1 and c.id = h.id and c.data ? $2::text
		returning 1
	)
	select (select count(*)::int from changed) as count,
		(select id from having_it order by id desc limit 1) as last`,
)
