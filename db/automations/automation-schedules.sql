-- Temporal's Schedules follow the rows of automations. After each relevant change the relay updates the Schedule
-- from the row's current state.
create or replace function follow_schedule() returns trigger language plpgsql as $$
declare
	changed automations = coalesce(new, old);
begin
	insert into outbox (project_id, kind, priority, workflow_id, payload)
	select changed.project_id, 'schedule', 3, 'enrol/' || changed.id,
		jsonb_build_object('projectId', changed.project_id, 'automationId', changed.id)
	where exists (select from projects p where p.id = changed.project_id);
	return null;
end $$;

create or replace trigger automations_scheduled after insert on automations
	for each row when (new.enabled and new.trigger_type = 'SCHEDULE')
	execute function follow_schedule();

create or replace function is_rescheduled(before automations, after automations) returns boolean language sql immutable
return ((before.enabled and before.trigger_type = 'SCHEDULE') is distinct from (after.enabled and after.trigger_type = 'SCHEDULE')
		or before.schedule is distinct from after.schedule or before.timezone is distinct from after.timezone)
	and (before.trigger_type = 'SCHEDULE' or after.trigger_type = 'SCHEDULE');

-- Times that came after the change are made up for if Temporal was away. Other edits of the automation don't count.
create or replace function note_schedule() returns trigger language plpgsql as $$
begin
	new.scheduled_since = now();
	return new;
end $$;

create or replace trigger automations_schedule_noted before update on automations
	for each row when (is_rescheduled(old, new))
	execute function note_schedule();

create or replace trigger automations_rescheduled after update on automations
	for each row when (is_rescheduled(old, new))
	execute function follow_schedule();

-- A scheduled run of an automation that is disabled or gets another trigger starts no more executions, even if that is
-- undone at once.
create or replace function end_enrolments() returns trigger language plpgsql as $$
begin
	update enrolments set ended_at = now(), updated_at = now()
	where project_id = new.project_id and automation_id = new.id and ended_at is null;
	return null;
end $$;

create or replace trigger automations_enrolments_ended after update on automations
	for each row when (old.enabled and old.trigger_type = 'SCHEDULE' and not (new.enabled and new.trigger_type = 'SCHEDULE'))
	execute function end_enrolments();

create or replace trigger automations_unscheduled after delete on automations
	for each row when (old.enabled and old.trigger_type = 'SCHEDULE')
	execute function follow_schedule();
