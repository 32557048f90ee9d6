-- Events are counted by name and day. Statements append their changes to event_tallies, so that none waits for a
-- counter; folding adds the tallies to event_counts. The rules of other counts fold in the same way.

-- The number of events by name and day: the sum of all rows with these.
create or replace function counted_events(project uuid) returns table (name text, day date, count bigint)
language sql stable parallel safe
as $$
	select name, day, count from event_counts where project_id = project
	union all
	select name, day, count from event_tallies where project_id = project
$$;

-- One process folds a project at a time; others skip it. Nothing waits here for a lock, or for more rows than one
-- or two pages hold.
create or replace function fold_event_tallies(project uuid) returns void language plpgsql as $$
begin
	if not pg_try_advisory_xact_lock(hashtextextended('event tallies of ' || project, 0)) then
		return;
	end if;
	with gone as (
		delete from event_tallies where project_id = project and id in (
			select id from event_tallies where project_id = project order by id limit 2000
			for update skip locked)
		returning name, day, count
	)
	insert into event_counts as c (project_id, name, day, count)
	select project, name, day, sum(count) from gone group by name, day order by name, day
	on conflict (project_id, name, day) do update set count = c.count + excluded.count;
end $$;

create or replace function count_new_events() returns trigger language plpgsql as $$
begin
	if not is_counted() then
		insert into event_tallies (project_id, name, day, count)
		select project_id, name, (created_at at time zone 'UTC')::date, count(*) from added group by 1, 2, 3;
	end if;
	if random() < 1.0 / 256 then
		perform fold_event_tallies(project_id) from (select distinct project_id from added) touched;
	end if;
	return null;
end $$;

create or replace trigger events_tallied after insert on events
	referencing new table as added
	for each statement execute function count_new_events();

-- Events that are deleted together with their project are not counted.
create or replace function count_deleted_events() returns trigger language plpgsql as $$
begin
	insert into event_tallies (project_id, name, day, count)
	select project_id, name, (created_at at time zone 'UTC')::date, -count(*) from removed
	where exists (select from projects p where p.id = removed.project_id) group by 1, 2, 3;
	return null;
end $$;

create or replace trigger events_tallied_deleted after delete on events
	referencing old table as removed
	for each statement execute function count_deleted_events();
