import { Migration } from '@mikro-orm/migrations'
import { trigger } from './Migration20261121053817.ts'

/** Null: whoever changes contacts has not said which fields at most are different. */
const named = `(select nullif(current_setting('tempost.changed_fields', true), '')::text[] as fields) named`

const changedFields = `
		select n.project_id, field.key, field.value, field.n
		from removed o join added n on n.id = o.id cross join ${named} cross join lateral (
			select key, value, 1 as n from jsonb_each(n.data)
			where named.fields is null and key <> '' and o.data -> key is distinct from value
			union all
			select key, value, -1 from jsonb_each(o.data)
			where named.fields is null and key <> '' and n.data -> key is distinct from value
			union all
			select key, side.value, side.n
			from unnest(named.fields) key,
				lateral (values (n.data -> key, 1), (o.data -> key, -1)) side (value, n)
			where key <> '' and n.data -> key is distinct from o.data -> key and side.value is not null
		) field where o.data <> n.data
		union all
		select n.project_id, '', to_jsonb(flip.subscribed), flip.n
		from removed o join added n on n.id = o.id
		cross join lateral (values (n.subscribed, 1), (o.subscribed, -1)) flip (subscribed, n)
		where o.subscribed <> n.subscribed`

/**
 * Comparing all fields of contacts takes twice as long as writing them. Who changes many contacts in few
 * fields names these fields in `tempost.changed_fields`, for the transaction, and only they are looked at.
 */
export class Migration20261121115537 extends Migration {
	override name = 'Migration20261121115537'

	override up() {
		this.addSql(
			trigger('note_changed_contacts', 'added', changedFields).replace(
				'create function',
				'create or replace function',
			),
		)
	}
}
