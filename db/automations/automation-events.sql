-- Events start executions of automations and wake the executions that wait for them, in the transaction that writes
-- the event.

-- The automations that led to an event: an event of a mail inherits those of the execution that sent the mail, any
-- other event those of the execution whose step writes it in this transaction.
create or replace function automations_behind(project uuid, event_name text, mail uuid) returns uuid[]
language sql stable
return coalesce((
	select x.ancestors || x.automation_id from executions x
	where x.project_id = project and x.id = coalesce(
		(select m.workflow_execution_id from emails m
			where event_name like 'email.%' and m.project_id = project and m.id = mail),
		nullif(current_setting('tempost.execution', true), '')::uuid)), '{}');

-- Events, given as rows of `events`, first start executions, then wake those that were waiting before them. The caller
-- has made sure that each has a contact and that an automation of its project listens to its name.
--
-- A step that starts to wait locks its contact and then looks for the event. This runs after the event is written and
-- then locks the contact. So whichever is first, one of the two sees the other. These are several
-- statements because each sees everything that was committed before it.
create or replace function start_and_wake_executions_by(happened jsonb) returns void language plpgsql as $$
declare
	started int;
	woken int;
begin
	-- In order of ids, so that two of these never wait for each other; by index, whatever the planner estimates.
	perform from (
		select distinct e.project_id, e.contact_id from jsonb_populate_recordset(null::events, happened) e
		order by e.contact_id) touched
	cross join lateral (
		select from contacts c where c.project_id = touched.project_id and c.id = touched.contact_id
		for no key update) c;

	-- The next statement no longer sees an automation that is being deleted.
	perform from (
		select distinct e.project_id, e.name from jsonb_populate_recordset(null::events, happened) e order by 1, 2) named
	cross join lateral (
		select from automations a
		where a.project_id = named.project_id and a.event_name = named.name
			and a.enabled and a.trigger_type = 'EVENT'
		order by a.id for key share) a;

	with triggered as materialized (
		select distinct on (a.id, e.contact_id) a.project_id, a.id, a.name, a.version,
			a.allow_reentry, e.contact_id, e.id as event_id, e.name as event_name,
			event_data(e.name, e.data, e.project_id, e.email_id) as data, e.created_at,
			behind.ancestors
		from jsonb_populate_recordset(null::events, happened) e cross join lateral (
			select a.project_id, a.id, a.name, a.current_version as version, a.allow_reentry
			from automations a
			where a.project_id = e.project_id and a.event_name = e.name
				and a.enabled and a.trigger_type = 'EVENT' offset 0) a
		cross join lateral (
			select automations_behind(e.project_id, e.name, e.email_id) as ancestors offset 0) behind
		-- An automation is not started by an event that it caused.
		where a.id <> all(behind.ancestors)
		order by a.id, e.contact_id, e.created_at, e.id
	), begun as (
		insert into executions (project_id, automation_id, version, contact_id, allow_reentry,
			ancestors, trigger_event_id, event)
		select t.project_id, t.id, t.version, t.contact_id, t.allow_reentry, t.ancestors, t.event_id,
			jsonb_build_object('id', t.event_id, 'name', t.event_name, 'data', t.data, 'createdAt', iso_text(t.created_at))
		from triggered t
		join projects p on p.id = t.project_id and p.disabled_reason is null
		where not exists (
			select from executions x
			where x.contact_id = t.contact_id and x.automation_id = t.id
				and (not t.allow_reentry or x.status in ('RUNNING', 'WAITING')) offset 0)
		on conflict do nothing
		returning project_id, id, automation_id, contact_id
	)
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload,
		summary, search_attributes)
	select b.project_id, 'start', 3, 'automation', 'automation/' || b.id, 'core',
		jsonb_build_object('projectId', b.project_id, 'executionId', b.id),
		t.name || ', version ' || t.version,
		jsonb_build_object('AutomationId', b.automation_id, 'ContactId', b.contact_id)
	from begun b join triggered t on t.id = b.automation_id and t.contact_id = b.contact_id
	order by b.id;
	get diagnostics started = row_count;

	with arrived as materialized (
		select distinct on (x.id) x.project_id, x.id, e.id as event_id, e.name,
			event_data(e.name, e.data, e.project_id, e.email_id) as data, e.created_at
		from jsonb_populate_recordset(null::events, happened) e cross join lateral (
			select x.project_id, x.id from executions x
			where x.contact_id = e.contact_id and x.wait_event_name = e.name offset 0) x
		order by x.id, e.created_at, e.id
	), continued as (
		update executions x set status = 'RUNNING', wait_event_name = null, wakes_at = null,
			due_at = now(), updated_at = now(),
			event = jsonb_build_object('id', a.event_id, 'name', a.name, 'data', a.data, 'createdAt', iso_text(a.created_at))
		from arrived a
		where x.project_id = a.project_id and x.id = a.id and x.wait_event_name = a.name
		returning x.project_id, x.id, x.visit
	)
	insert into outbox (project_id, kind, priority, workflow_id, payload)
	select project_id, 'signal', 3, 'automation/' || id,
		jsonb_build_object('name', 'eventArrived', 'argument', jsonb_build_object('visit', visit))
	from continued;
	get diagnostics woken = row_count;

	if started + woken > 0 then
		perform pg_notify('outbox', '');
	end if;
end $$;

-- Events that no automation of their project listens to cost one index look-up.
create or replace function start_and_wake_executions() returns trigger language plpgsql as $$
begin
	perform start_and_wake_executions_by(jsonb_agg(to_jsonb(e))) from added e
	where e.contact_id is not null and exists (
		select from automation_event_names n where n.project_id = e.project_id and n.name = e.name offset 0)
	having count(*) > 0;
	return null;
end $$;

create or replace trigger events_start_executions after insert on events
	referencing new table as added
	for each statement execute function start_and_wake_executions();
