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

create or replace trigger automations_rescheduled after update on automations
	for each row when (
		((old.enabled and old.trigger_type = 'SCHEDULE') is distinct from (new.enabled and new.trigger_type = 'SCHEDULE')
			or old.schedule is distinct from new.schedule or old.timezone is distinct from new.timezone)
		and (old.trigger_type = 'SCHEDULE' or new.trigger_type = 'SCHEDULE'))
	execute function follow_schedule();

create or replace trigger automations_unscheduled after delete on automations
	for each row when (old.enabled and old.trigger_type = 'SCHEDULE')
	execute function follow_schedule();
