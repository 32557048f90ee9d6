create table execution_steps (
	project_id uuid not null,
	execution_id uuid not null,
	visit int not null,
	id uuid not null default uuidv7(),
	step_id uuid not null,
	type text not null,
	status text not null,
	output jsonb,
	error text,
	event_id uuid,
	wakes_at timestamptz(3),
	started_at timestamptz(3) not null default now(),
	completed_at timestamptz(3),
	attempts int,
	constraint execution_steps_status_check check (status in ('PENDING', 'RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED')),
	constraint execution_steps_type_check check (type in ('TRIGGER', 'SEND_EMAIL', 'DELAY', 'WAIT_FOR_EVENT', 'CONDITION', 'WEBHOOK', 'UPDATE_CONTACT', 'EXIT')),
	primary key (project_id, execution_id, visit)
);

create table executions (
	project_id uuid not null,
	id uuid not null default uuidv7(),
	automation_id uuid not null,
	version int not null,
	contact_id uuid,
	allow_reentry boolean not null,
	status text not null default 'RUNNING',
	current_step_id uuid,
	visit int not null default 0,
	exit_reason text,
	error text,
	context jsonb not null default '{}',
	event jsonb,
	trigger_event_id uuid,
	scheduled_for timestamptz(3),
	wait_event_name text,
	wakes_at timestamptz(3),
	due_at timestamptz(3) default now(),
	is_closing boolean not null default false,
	started_at timestamptz(3) not null default now(),
	completed_at timestamptz(3),
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	ancestors uuid[] not null default '{}',
	constraint executions_status_check check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')),
	primary key (project_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create unique index executions_active on executions (project_id, automation_id, contact_id)
	where status in ('RUNNING', 'WAITING');
create index executions_at_step on executions (project_id, automation_id, current_step_id, id)
	where status in ('RUNNING', 'WAITING');
create index executions_closing on executions (project_id, id)
	where is_closing;
create index executions_due on executions (due_at)
	where due_at is not null;
create index executions_newest on executions (project_id, automation_id, id);
create index executions_of_contact on executions (contact_id, automation_id);
create unique index executions_once on executions (project_id, automation_id, contact_id)
	where not allow_reentry;
create unique index executions_scheduled on executions (project_id, automation_id, contact_id, scheduled_for)
	where scheduled_for is not null;
create index executions_upcoming on executions (project_id, coalesce(wakes_at, started_at), id)
	where status in ('RUNNING', 'WAITING');
create index executions_waiting on executions (contact_id, wait_event_name)
	where wait_event_name is not null;
