import { Migration } from '@mikro-orm/migrations'

/** Executions of automations, and how events find them. */
export class Migration20261121115527 extends Migration {
	override name = 'Migration20261121115527'

	override up() {
		this.addSql(`create table "executions" ("project_id" uuid not null, "id" uuid not null default uuidv7(), "automation_id" uuid not null, "version" int not null, "contact_id" uuid null, "allow_reentry" boolean not null, "status" text not null default 'RUNNING', "current_step_id" uuid null, "visit" int not null default 0, "exit_reason" text null, "error" text null, "context" jsonb not null default '{}', "event" jsonb null, "trigger_event_id" uuid null, "scheduled_for" timestamptz(3) null, "wait_event_name" text null, "wakes_at" timestamptz(3) null, "due_at" timestamptz(3) null default now(), "is_closing" boolean not null default false, "started_at" timestamptz(3) not null default now(), "completed_at" timestamptz(3) null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("project_id", "id"))`)
		this.addSql(`alter table "executions" add constraint "executions_status_check" check ("status" in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'))`)
		this.addSql(`create unique index "executions_active" on "executions" ("project_id", "automation_id", "contact_id") where status in ('RUNNING', 'WAITING')`)
		this.addSql(`create unique index "executions_once" on "executions" ("project_id", "automation_id", "contact_id") where not allow_reentry`)
		this.addSql(`create unique index "executions_scheduled" on "executions" ("project_id", "automation_id", "contact_id", "scheduled_for") where scheduled_for is not null`)
		this.addSql(`create index "executions_newest" on "executions" ("project_id", "automation_id", "id")`)
		this.addSql(`create index "executions_of_contact" on "executions" ("project_id", "contact_id", "automation_id")`)
		this.addSql(`create index "executions_waiting" on "executions" ("project_id", "contact_id", "wait_event_name") where wait_event_name is not null`)
		this.addSql(`create index "executions_due" on "executions" ("due_at") where due_at is not null`)
		this.addSql(`create index "executions_closing" on "executions" ("project_id", "id") where is_closing`)
		this.addSql(`create table "execution_steps" ("project_id" uuid not null, "execution_id" uuid not null, "visit" int not null, "id" uuid not null default uuidv7(), "step_id" uuid not null, "type" text not null, "status" text not null, "output" jsonb null, "error" text null, "event_id" uuid null, "wakes_at" timestamptz(3) null, "started_at" timestamptz(3) not null default now(), "completed_at" timestamptz(3) null, primary key ("project_id", "execution_id", "visit"))`)
		this.addSql(`alter table "execution_steps" add constraint "execution_steps_type_check" check ("type" in ('TRIGGER', 'SEND_EMAIL', 'DELAY', 'WAIT_FOR_EVENT', 'CONDITION', 'WEBHOOK', 'UPDATE_CONTACT', 'EXIT'))`)
		this.addSql(`alter table "execution_steps" add constraint "execution_steps_status_check" check ("status" in ('PENDING', 'RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED'))`)

		for (const table of ['executions', 'execution_steps'])
			this.addSql(
				`alter table "${table}" add constraint "${table}_project" foreign key ("project_id") references "projects" ("id") on delete cascade`,
			)
		this.addSql(`alter table "executions" add constraint "executions_version" foreign key ("project_id", "automation_id", "version") references "automation_versions" ("project_id", "automation_id", "version") on delete cascade`)
		this.addSql(`alter table "executions" add constraint "executions_contact" foreign key ("project_id", "contact_id") references "contacts" ("project_id", "id") on delete set null ("contact_id")`)
		this.addSql(`alter table "execution_steps" add constraint "execution_steps_execution" foreign key ("project_id", "execution_id") references "executions" ("project_id", "id") on delete cascade`)
		// The rows change several times in a life.
		this.addSql(`alter table "executions" set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)`)

		// The ledger outlives executions, so it names them without a foreign key.
		this.addSql(`create unique index "emails_step_execution" on "emails" ("project_id", "workflow_step_execution_id") where workflow_step_execution_id is not null`)

		this.addSql(`alter table "outbox" add column "search_attributes" jsonb null`)
		this.addSql(`alter table "outbox" drop constraint "outbox_kind_check"`)
		this.addSql(`alter table "outbox" add constraint "outbox_kind_check" check ("kind" in ('start', 'signal', 'cancel', 'terminate', 'schedule'))`)

		// Whoever deletes a contact, by whatever statement, ends its executions: nobody is left on the way.
		this.addSql(`create function end_execution_without_contact() returns trigger language plpgsql as $$
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
				return new;
			end $$`)
		this.addSql(`create trigger executions_lose_contact before update of contact_id on executions
			for each row when (old.contact_id is not null and new.contact_id is null)
			execute function end_execution_without_contact()`)

		// One event first begins executions, then wakes those that were waiting already, in the transaction
		// that inserts it. Most events concern no automation, and pay for one look into an index.
		//
		// Whoever makes an execution wait holds the contact's row and looks for the event after that; here
		// it is the other way round. So one of the two sees the other, whichever is first. Each statement
		// sees what was committed before it: that is why these are several.
		this.addSql(`create function hear_events() returns trigger language plpgsql as $$
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
						a.allow_reentry, e.contact_id, e.id as event_id, e.name as event_name, e.data, e.created_at
					from added e cross join lateral (
						select a.project_id, a.id, a.name, a.current_version as version, a.allow_reentry
						from automations a
						where a.project_id = e.project_id and a.event_name = e.name
							and a.enabled and a.trigger_type = 'EVENT' offset 0) a
					where e.contact_id is not null
					order by a.id, e.contact_id, e.created_at, e.id
				), begun as (
					insert into executions (project_id, automation_id, version, contact_id, allow_reentry,
						trigger_event_id, event)
					select h.project_id, h.id, h.version, h.contact_id, h.allow_reentry, h.event_id,
						jsonb_build_object('id', h.event_id, 'name', h.event_name, 'data', h.data,
							'createdAt', to_char(h.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
					from heard h
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
		this.addSql(`create trigger events_heard after insert on events
			referencing new table as added for each statement execute function hear_events()`)

		// Temporal's Schedules follow the rows of automations.
		this.addSql(`create function follow_schedule() returns trigger language plpgsql as $$
			declare
				changed automations = coalesce(new, old);
			begin
				insert into outbox (project_id, kind, priority, workflow_id, payload)
				select changed.project_id, 'schedule', 3, 'enrol/' || changed.id,
					jsonb_build_object('projectId', changed.project_id, 'automationId', changed.id)
				where exists (select from projects p where p.id = changed.project_id);
				return null;
			end $$`)
		this.addSql(`create trigger automations_scheduled after insert on automations
			for each row when (new.enabled and new.trigger_type = 'SCHEDULE')
			execute function follow_schedule()`)
		this.addSql(`create trigger automations_unscheduled after delete on automations
			for each row when (old.enabled and old.trigger_type = 'SCHEDULE')
			execute function follow_schedule()`)
		this.addSql(`create trigger automations_rescheduled after update on automations
			for each row when (
				(old.enabled and old.trigger_type = 'SCHEDULE', old.schedule, old.timezone)
					is distinct from (new.enabled and new.trigger_type = 'SCHEDULE', new.schedule, new.timezone)
				and (old.trigger_type = 'SCHEDULE' or new.trigger_type = 'SCHEDULE'))
			execute function follow_schedule()`)
	}
}
