import { Migration } from '@mikro-orm/migrations'

/** What executions have kept of a contact goes with the contact. */
export class Migration20261121131743 extends Migration {
	override name = 'Migration20261121131743'

	override up() {
		this.addSql(`create or replace function end_execution_without_contact() returns trigger language plpgsql as $$
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
				-- Its variables, and what events and servers have said of it.
				new.event = null;
				new.context = '{}';
				update execution_steps s set output = null
				where s.project_id = new.project_id and s.execution_id = new.id and s.output is not null;
				return new;
			end $$`)
	}
}
