import { Migration } from '@mikro-orm/migrations'

/** Workflows that start with what workflows do start no circle. */
export class Migration20261122125700 extends Migration {
	override name = 'Migration20261122125700'

	override up() {
		this.addSql(`alter table "executions" add column "ancestors" uuid[] not null default '{}'`)

		// The automations that led to an event: of a mail's event those that led to the mail, of any other
		// those of the execution whose step emits it in this transaction.
		this.addSql(`create function automations_behind(project uuid, event_name text, mail uuid) returns uuid[] stable language sql return
			coalesce((
				select x.ancestors || x.automation_id from executions x
				where x.project_id = project and x.id = coalesce(
					(select m.workflow_execution_id from emails m
						where event_name like 'email.%' and m.project_id = project and m.id = mail),
					nullif(current_setting('tempost.execution', true), '')::uuid)), '{}')`)

		// As before, but an event does not start an automation that led to it.
		this.addSql(`create or replace function hear_events() returns trigger language plpgsql as $$
			declare
				told int;
				told_too int;
			begin
				if not exists (
					select from added e where e.contact_id is not null and exists (
						select from automation_event_names n
						where n.project_id = e.project_id and n.name = e.name offset 0)
				) then
					return null;
				end if;

				-- In order, so that two of us never wait for each other; by the index, whatever is guessed.
				perform from (
					select distinct e.project_id, e.contact_id from added e
					where e.contact_id is not null and exists (
						select from automation_event_names n
						where n.project_id = e.project_id and n.name = e.name offset 0)
					order by e.contact_id) heard
				cross join lateral (
					select from contacts c where c.project_id = heard.project_id and c.id = heard.contact_id
					for no key update) c;

				-- One that is being deleted is gone for the next statement.
				perform from (
					select distinct e.project_id, e.name from added e order by 1, 2) heard
				cross join lateral (
					select from automations a
					where a.project_id = heard.project_id and a.event_name = heard.name
						and a.enabled and a.trigger_type = 'EVENT'
					order by a.id for key share) a;

				with heard as materialized (
					select distinct on (a.id, e.contact_id) a.project_id, a.id, a.name, a.version,
						a.allow_reentry, e.contact_id, e.id as event_id, e.name as event_name, e.data, e.created_at,
						behind.ancestors
					from added e cross join lateral (
						select a.project_id, a.id, a.name, a.current_version as version, a.allow_reentry
						from automations a
						where a.project_id = e.project_id and a.event_name = e.name
							and a.enabled and a.trigger_type = 'EVENT' offset 0) a
					cross join lateral (
						select automations_behind(e.project_id, e.name, e.email_id) as ancestors offset 0) behind
					where e.contact_id is not null and a.id <> all(behind.ancestors)
					order by a.id, e.contact_id, e.created_at, e.id
				), begun as (
					insert into executions (project_id, automation_id, version, contact_id, allow_reentry,
						ancestors, trigger_event_id, event)
					select h.project_id, h.id, h.version, h.contact_id, h.allow_reentry, h.ancestors, h.event_id,
						jsonb_build_object('id', h.event_id, 'name', h.event_name, 'data', h.data,
							'createdAt', to_char(h.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
					from heard h
					join projects p on p.id = h.project_id and p.disabled_reason is null
					where not exists (
						select from executions x
						where x.project_id = h.project_id and x.contact_id = h.contact_id
							and x.automation_id = h.id
							and (not h.allow_reentry or x.status in ('RUNNING', 'WAITING')) offset 0)
					on conflict do nothing
					returning project_id, id, automation_id, contact_id
				)
				insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload,
					summary, search_attributes)
				select b.project_id, 'start', 3, 'automation', 'automation/' || b.id, 'core',
					jsonb_build_object('projectId', b.project_id, 'executionId', b.id),
					h.name || ', version ' || h.version,
					jsonb_build_object('AutomationId', b.automation_id, 'ContactId', b.contact_id)
				from begun b join heard h on h.id = b.automation_id and h.contact_id = b.contact_id
				order by b.id;
				get diagnostics told = row_count;

				with heard as materialized (
					select distinct on (x.id) x.project_id, x.id, e.id as event_id, e.name, e.data, e.created_at
					from added e cross join lateral (
						select x.project_id, x.id from executions x
						where x.project_id = e.project_id and x.contact_id = e.contact_id
							and x.wait_event_name = e.name offset 0) x
					where e.contact_id is not null
					order by x.id, e.created_at, e.id
				), woken as (
					update executions x set status = 'RUNNING', wait_event_name = null, wakes_at = null,
						due_at = now(), updated_at = now(),
						event = jsonb_build_object('id', h.event_id, 'name', h.name, 'data', h.data,
							'createdAt', to_char(h.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
					from heard h
					where x.project_id = h.project_id and x.id = h.id and x.wait_event_name = h.name
					returning x.project_id, x.id, x.visit
				)
				insert into outbox (project_id, kind, priority, workflow_id, payload)
				select project_id, 'signal', 3, 'automation/' || id,
					jsonb_build_object('name', 'eventArrived', 'argument', jsonb_build_object('visit', visit))
				from woken;
				get diagnostics told_too = row_count;

				if told + told_too > 0 then
					perform pg_notify('outbox', '');
				end if;
				return null;
			end $$`)
	}
}
