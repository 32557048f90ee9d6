-- Statistics of contacts' fields: db/contacts/contact-field.ts explains what is counted. The key '' stands for
-- `subscribed`. Triggers append changes to contact_field_changes; folding adds them to contact_fields and
-- contact_field_values. A field keeps its 400 smallest values; `bound` is the largest value kept.

create or replace function contact_field_type(value jsonb) returns text
language sql immutable parallel safe
return case
	when jsonb_typeof(value) <> 'string' then jsonb_typeof(value)
	when substr(value #>> '{}', 5, 1) = '-' and value #>> '{}' ~
		'^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$'
		then 'date'
	else 'string' end;

-- Returns the value if it is short enough to keep. Every function called here is immutable, or Postgres would not
-- inline it: a function call per value was half the cost of the statistics.
create or replace function contact_field_value(value jsonb) returns jsonb
language sql immutable parallel safe
return case
	when jsonb_typeof(value) in ('object', 'array') then null
	when length(value #>> '{}') > 500 then null
	else value end;

-- Adds the changes of a project to its counts. One process folds a project at a time; others skip it. It reads only the
-- fields that have changed: anybody with a public key can give a project any number of others.
create or replace function fold_contact_fields(project uuid) returns void language plpgsql as $$
declare
	touched text[];
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
	), vals as (
		insert into contact_field_values as v (project_id, key, type, value, count)
		select project, key, type, value, sum(count)
		from gone join fields using (key, type)
		where value is not null and (fields.bound is null or value <= fields.bound)
		group by key, type, value having sum(count) <> 0 order by key, type, value
		on conflict (project_id, key, type, value) do update set count = v.count + excluded.count
	)
	select array_agg(distinct key) into touched from gone;

	update contact_fields f set bound = crowded.bound
	from (
		select key, type, (array_agg(value order by value))[400] as bound
		from contact_field_values where project_id = project and key = any(touched)
		group by key, type having count(*) > 800
	) crowded
	where f.project_id = project and f.key = crowded.key and f.type = crowded.type;
	delete from contact_field_values v using contact_fields f
	where v.project_id = project and f.project_id = project and v.key = any(touched) and f.key = any(touched)
		and f.key = v.key and f.type = v.type and (v.count = 0 or v.value > f.bound);
	delete from contact_fields where project_id = project and key = any(touched) and count = 0;
end $$;

-- Reads all contacts again, once too few of the smallest values are left. Changes that this read has already seen
-- keep their count but lose their value, which the read has counted.
create or replace function recount_contact_field(project uuid, field text) returns void language plpgsql as $$
declare
	seen uuid[];
	counted jsonb;
begin
	perform pg_advisory_xact_lock(hashtextextended('contact fields of ' || project, 0));
	perform fold_contact_fields(project);
	select
		(select array_agg(id) from contact_field_changes where project_id = project and key = field),
		(select coalesce(jsonb_agg(to_jsonb(smallest)), '[]') from (
			select * from (
				select *, row_number() over (partition by type order by value) as rank,
					count(*) over (partition by type) > 400 as has_more
				from (
					select contact_field_type(data -> field) as type,
						contact_field_value(data -> field) as value, count(*) as count
					from contacts where project_id = project and data ? field group by 1, 2
				) sums where value is not null and value <> 'null'
			) ranked where rank <= 400
		) smallest)
	into seen, counted;
	update contact_field_changes set value = null, bound = null
	where project_id = project and id = any(seen);
	delete from contact_field_values where project_id = project and key = field;
	insert into contact_field_values (project_id, key, type, value, count)
	select project, field, type, value, count
	from jsonb_to_recordset(counted) as f(type text, value jsonb, count bigint);
	update contact_fields set bound = null where project_id = project and key = field;
	insert into contact_fields as f (project_id, key, type, count, bound)
	select project, field, type, 0, value
	from jsonb_to_recordset(counted) as f(type text, value jsonb, rank int, has_more bool)
	where has_more and rank = 400
	on conflict (project_id, key, type) do update set bound = excluded.bound;
end $$;

-- Appends the changes of one statement that wrote `size` contacts: counts[i] contacts more (or fewer) have vals[i].
-- For many contacts, values above a field's bound and values beyond the 400 smallest of this statement are counted
-- without their value. Then it folds: the more changes a statement appends, the more often, so that at most a few
-- thousand wait. Its callers turn nested loops off, because a plan made for one contact is used for thousands. They
-- force that one plan, because planning takes longer than appending. The bounds of fields are looked up one by one: without
-- nested loops a join would read those of all projects.
create or replace function append_contact_field_changes(
	size int, projects uuid[], keys text[], vals jsonb[], counts int[])
returns void language plpgsql as $$
declare
	appended int;
begin
	if projects is null then
		return;
	elsif size < 20 then
		insert into contact_field_changes (project_id, key, type, value, count, bound)
		select project_id, key, type, case when bound < value then null else value end, n,
			case when bound < value then bound end
		from (
			select *, (select f.bound from contact_fields f where f.project_id = changed.project_id
				and f.key = changed.key and f.type = changed.type) as bound
			from (
				select project_id, key, contact_field_type(value) as type, contact_field_value(value) as value, n
				from unnest(projects, keys, vals, counts) as changed (project_id, key, value, n) offset 0
			) changed offset 0
		) changed;
	else
		insert into contact_field_changes (project_id, key, type, value, count, bound)
		with sums as (
			select project_id, key, contact_field_type(value) as type, contact_field_value(value) as value, sum(n) as n
			from unnest(projects, keys, vals, counts) as changed (project_id, key, value, n)
			group by project_id, key, changed.value having sum(n) <> 0
		), bounds as materialized (
			select *, (select f.bound from contact_fields f where f.project_id = changed.project_id
				and f.key = changed.key and f.type = changed.type) as bound
			from (select distinct project_id, key, type from sums) changed
		), known as (
			select s.*, b.bound as known, b.bound < s.value as is_above
			from sums s join bounds b using (project_id, key, type)
		), ranked as (
			select *, row_number() over smallest as rank, nth_value(value, 400) over smallest as last
			from known where is_above is distinct from true
			window smallest as (partition by project_id, key, type order by value
				rows between unbounded preceding and unbounded following)
		), kept as (
			select project_id, key, type, n, rank <= 400 as is_kept, value,
				case when rank > 400 and value is not null then last end as last, null::jsonb as known
			from ranked
			union all
			select project_id, key, type, n, false, null, null, known from known where is_above
		)
		select project_id, key, type, case when is_kept then value end, sum(n),
			least(any_value(last), any_value(known))
		from kept group by 1, 2, 3, 4
		having sum(n) <> 0 or count(last) + count(known) > 0;
	end if;
	get diagnostics appended = row_count;
	if appended > 1000 or random() < appended / 2048.0 then
		perform fold_contact_fields(project) from (select distinct unnest(projects) as project) touched;
	end if;
end $$;

create or replace function count_fields_of_new_contacts() returns trigger language plpgsql
	set enable_nestloop to off
	set enable_seqscan to off
	set plan_cache_mode to force_generic_plan
as $$
begin
	if is_counted() then
		return null;
	end if;
	perform append_contact_field_changes(
		(select count(*)::int from (select from added limit 20) few),
		array_agg(project_id), array_agg(key), array_agg(value), array_agg(n))
	from (
		select project_id, key, value, 1 as n
		from added, lateral (
			select key, value from jsonb_each(data) where key <> ''
			union all select '', to_jsonb(subscribed)
		) field
		where value <> 'null'
	) changes;
	return null;
end $$;

create or replace trigger contacts_fields_inserted after insert on contacts
	referencing new table as added
	for each statement execute function count_fields_of_new_contacts();

-- Contacts that are deleted together with their project are not counted.
create or replace function count_fields_of_deleted_contacts() returns trigger language plpgsql
	set enable_nestloop to off
	set enable_seqscan to off
	set plan_cache_mode to force_generic_plan
as $$
begin
	perform append_contact_field_changes(
		(select count(*)::int from (select from removed limit 20) few),
		array_agg(project_id), array_agg(key), array_agg(value), array_agg(n))
	from (
		select project_id, key, value, -1 as n
		from removed, lateral (
			select key, value from jsonb_each(data) where key <> ''
			union all select '', to_jsonb(subscribed)
		) field
		where value <> 'null' and exists (select from projects p where p.id = project_id)
	) changes;
	return null;
end $$;

create or replace trigger contacts_fields_deleted after delete on contacts
	referencing old table as removed
	for each statement execute function count_fields_of_deleted_contacts();

-- Comparing all fields of a contact takes twice as long as writing it. A transaction that changes few fields of
-- many contacts names them in `tempost.changed_fields`, and only these are compared.
create or replace function count_fields_of_changed_contacts() returns trigger language plpgsql
	set enable_nestloop to off
	set enable_seqscan to off
	set plan_cache_mode to force_generic_plan
as $$
begin
	perform append_contact_field_changes(
		(select count(*)::int from (select from added limit 20) few),
		array_agg(project_id), array_agg(key), array_agg(value), array_agg(n))
	from (
		select project_id, key, value, n from (
			select n.project_id, field.key, field.value, field.n
			from removed o join added n on n.id = o.id
			cross join (select nullif(current_setting('tempost.changed_fields', true), '')::text[] as fields) named
			cross join lateral (
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
			where o.subscribed <> n.subscribed
		) items
		where value <> 'null'
	) changes;
	return null;
end $$;

create or replace trigger contacts_fields_changed after update on contacts
	referencing old table as removed new table as added
	for each statement execute function count_fields_of_changed_contacts();
