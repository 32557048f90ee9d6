import { Migration } from '@mikro-orm/migrations'

const keptAtLeast = 400
const keptAtMost = 2 * keptAtLeast

/**
 * Changes out of items (project_id, key, value, n): the n-fold coming of a value, or its going. What is
 * above a field's bound, or beyond its smallest values in this statement, is counted without its value,
 * and the change says from where on.
 */
const noteChanges = (items: string) => `
	insert into contact_field_changes (project_id, key, type, value, count, bound)
	with items as (${items}
	), sums as (
		select project_id, key, contact_field_type(value) as type, contact_field_value(value) as value,
			sum(n) as n
		from items where value <> 'null' group by items.project_id, items.key, items.value
		having sum(n) <> 0
	), known as (
		select s.*, f.bound as known, f.bound < s.value as is_above
		from sums s left join contact_fields f using (project_id, key, type)
	), ranked as (
		select *, row_number() over smallest as rank, nth_value(value, ${keptAtLeast}) over smallest as last
		from known where is_above is distinct from true
		window smallest as (partition by project_id, key, type order by value
			rows between unbounded preceding and unbounded following)
	), kept as (
		select project_id, key, type, n, rank <= ${keptAtLeast} as is_kept, value,
			case when rank > ${keptAtLeast} and value is not null then last end as last,
			null::jsonb as known
		from ranked
		union all
		select project_id, key, type, n, false, null, null, known from known where is_above
	)
	select project_id, key, type, case when is_kept then value end, sum(n),
		least(any_value(last), any_value(known))
	from kept group by 1, 2, 3, 4
	having sum(n) <> 0 or count(last) + count(known) > 0`

/** The same for a statement about one contact or a few: summing up would cost more than it saves. */
const noteFewChanges = (items: string) => `
	insert into contact_field_changes (project_id, key, type, value, count, bound)
	select project_id, key, type, case when bound < value then null else value end, n,
		case when bound < value then bound end
	from (
		select project_id, key, contact_field_type(value) as type,
			contact_field_value(value) as value, n
		from (${items}
		) items where value <> 'null' offset 0
	) items left join contact_fields f using (project_id, key, type)`

/** Who notes more folds more often: some thousand changes wait at most, or a few more by chance. */
export const trigger = (name: string, from: string, items: string) => `
	create function ${name}() returns trigger language plpgsql set enable_nestloop = off as $$
	declare
		size int;
		noted int;
	begin
		select count(*) into size from (select from ${from} limit 20) few;
		if size = 0 then
			return null;
		elsif size < 20 then
			${noteFewChanges(items)};
		else
			${noteChanges(items)};
		end if;
		get diagnostics noted = row_count;
		if noted > 1000 or random() < noted / 2048.0 then
			perform fold_contact_fields(project_id) from (select distinct project_id from ${from}) touched;
		end if;
		return null;
	end $$`

const allOf = (table: string, n: number) => `
		select project_id, key, value, ${n} as n
		from ${table}, lateral (
			select key, value from jsonb_each(data) where key <> ''
			union all select '', to_jsonb(subscribed)
		) field`

const isThere = `exists (select from projects p where p.id = project_id)`

const changedFields = `
		select n.project_id, field.key, field.value, field.n
		from removed o join added n on n.id = o.id cross join lateral (
			select key, value, 1 as n from jsonb_each(n.data)
			where key <> '' and o.data -> key is distinct from value
			union all
			select key, value, -1 from jsonb_each(o.data)
			where key <> '' and n.data -> key is distinct from value
		) field where o.data <> n.data
		union all
		select n.project_id, '', to_jsonb(flip.subscribed), flip.n
		from removed o join added n on n.id = o.id
		cross join lateral (values (n.subscribed, 1), (o.subscribed, -1)) flip (subscribed, n)
		where o.subscribed <> n.subscribed`

/** Statistics of contacts' fields: see db/contacts/contact-field.ts. */
export class Migration20261121053817 extends Migration {
	override name = 'Migration20261121053817'

	override up() {
		this.addSql(`create table contact_fields (project_id uuid not null, key text not null, type text not null, count bigint not null, bound jsonb null, primary key (project_id, key, type))`)
		this.addSql(`create table contact_field_values (project_id uuid not null, key text not null, type text not null, value jsonb not null, count bigint not null, primary key (project_id, key, type, value))`)
		this.addSql(`create table contact_field_changes (project_id uuid not null, id uuid not null default uuidv7(), key text not null, type text not null, value jsonb null, count bigint not null, bound jsonb null, primary key (project_id, id))`)
		for (const table of ['contact_fields', 'contact_field_values', 'contact_field_changes']) {
			this.addSql(`alter table ${table} add constraint ${table}_project foreign key (project_id) references projects (id) on delete cascade`)
			this.addSql(`alter table ${table} set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`)
		}

		this.addSql(`create function contact_field_type(value jsonb) returns text immutable parallel safe return
			case when jsonb_typeof(value) <> 'string' then jsonb_typeof(value)
				when substr(value #>> '{}', 5, 1) = '-' and value #>> '{}' ~
					'^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(T([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:?\\d\\d)?)?$'
					then 'date'
				else 'string' end`)
		this.addSql(`create function contact_field_value(value jsonb) returns jsonb immutable parallel safe return
			case when jsonb_typeof(value) in ('object', 'array') then null
				when pg_column_size(value) > 500 and length(value #>> '{}') > 500 then null
				else value end`)

		// One at a time in a project; who finds another at work leaves it to them.
		this.addSql(`create function fold_contact_fields(project uuid) returns void language plpgsql as $$
			begin
				if not pg_try_advisory_xact_lock(hashtextextended('contact fields of ' || project, 0)) then
					return;
				end if;
				with gone as (
					delete from contact_field_changes where project_id = project
					returning key, type, value, count, bound
				), fields as (
					insert into contact_fields as f (project_id, key, type, count, bound)
					select project, key, type, sum(count),
						(array_agg(bound order by bound) filter (where bound is not null))[1]
					from gone group by key, type order by key, type
					on conflict (project_id, key, type) do update
						set count = f.count + excluded.count, bound = least(f.bound, excluded.bound)
					returning key, type, bound
				)
				insert into contact_field_values as v (project_id, key, type, value, count)
				select project, key, type, value, sum(count)
				from gone join fields using (key, type)
				where value is not null and (fields.bound is null or value <= fields.bound)
				group by key, type, value having sum(count) <> 0 order by key, type, value
				on conflict (project_id, key, type, value) do update set count = v.count + excluded.count;

				update contact_fields f set bound = crowded.bound
				from (
					select key, type, (array_agg(value order by value))[${keptAtLeast}] as bound
					from contact_field_values where project_id = project
					group by key, type having count(*) > ${keptAtMost}
				) crowded
				where f.project_id = project and f.key = crowded.key and f.type = crowded.type;
				delete from contact_field_values v using contact_fields f
				where v.project_id = project and f.project_id = project
					and f.key = v.key and f.type = v.type and (v.count = 0 or v.value > f.bound);
				delete from contact_fields where project_id = project and count = 0;
			end $$`)

		// Looks through the contacts once more, when so many of the smallest values went that too few are
		// left. Changes that the look has seen keep their count, but not the value, which it included.
		this.addSql(`create function recount_contact_field(project uuid, field text) returns void language plpgsql as $$
			declare
				seen uuid[];
				found jsonb;
			begin
				perform pg_advisory_xact_lock(hashtextextended('contact fields of ' || project, 0));
				perform fold_contact_fields(project);
				select
					(select array_agg(id) from contact_field_changes where project_id = project and key = field),
					(select coalesce(jsonb_agg(to_jsonb(smallest)), '[]') from (
						select * from (
							select *, row_number() over (partition by type order by value) as rank,
								count(*) over (partition by type) > ${keptAtLeast} as has_more
							from (
								select contact_field_type(data -> field) as type,
									contact_field_value(data -> field) as value, count(*) as count
								from contacts where project_id = project and data ? field group by 1, 2
							) sums where value is not null and value <> 'null'
						) ranked where rank <= ${keptAtLeast}
					) smallest)
				into seen, found;
				update contact_field_changes set value = null, bound = null
				where project_id = project and id = any(seen);
				delete from contact_field_values where project_id = project and key = field;
				insert into contact_field_values (project_id, key, type, value, count)
				select project, field, type, value, count
				from jsonb_to_recordset(found) as f(type text, value jsonb, count bigint);
				update contact_fields set bound = null where project_id = project and key = field;
				insert into contact_fields as f (project_id, key, type, count, bound)
				select project, field, type, 0, value
				from jsonb_to_recordset(found) as f(type text, value jsonb, rank int, has_more bool)
				where has_more and rank = ${keptAtLeast}
				on conflict (project_id, key, type) do update set bound = excluded.bound;
			end $$`)

		this.addSql(trigger('note_new_contacts', 'added', allOf('added', 1)))
		// Of a project that is going itself nothing is to be counted.
		this.addSql(
			trigger('note_gone_contacts', 'removed', `${allOf('removed', -1)} where ${isThere}`),
		)
		this.addSql(trigger('note_changed_contacts', 'added', changedFields))
		this.addSql(`create trigger contacts_noted after insert on contacts
			referencing new table as added for each statement execute function note_new_contacts()`)
		this.addSql(`create trigger contacts_noted_gone after delete on contacts
			referencing old table as removed for each statement execute function note_gone_contacts()`)
		this.addSql(`create trigger contacts_noted_changed after update on contacts
			referencing old table as removed new table as added for each statement execute function note_changed_contacts()`)
		this.addSql(noteChanges(allOf('contacts', 1)))
		this.addSql(`select fold_contact_fields(id) from projects`)
	}
}
