-- Deleting a contact, by any statement, ends its executions and erases their data about it: their variables and the
-- outputs of their steps.
create or replace function end_execution_without_contact() returns trigger language plpgsql as $$
begin
	if new.status in ('RUNNING', 'WAITING') then
		new.status = 'CANCELLED';
		new.exit_reason = 'Contact deleted';
		new.completed_at = now();
		new.updated_at = now();
		new.wait_event_name = null;
		new.wakes_at = null;
		new.due_at = null;
		insert into outbox (project_id, kind, priority, workflow_id, summary)
		select new.project_id, 'terminate', 5, 'automation/' || new.id, 'Contact deleted'
		where exists (select from projects p where p.id = new.project_id);
	end if;
	new.event = null;
	new.context = '{}';
	update execution_steps s set output = null
	where s.project_id = new.project_id and s.execution_id = new.id and s.output is not null;
	return new;
end $$;

create or replace trigger executions_lose_contact before update of contact_id on executions
	for each row when (old.contact_id is not null and new.contact_id is null)
	execute function end_execution_without_contact();
