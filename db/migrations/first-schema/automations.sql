create table automation_event_names (
	project_id uuid not null,
	name text not null,
	automation_id uuid not null,
	primary key (project_id, name, automation_id)
);
create index automation_event_names_automation on automation_event_names (project_id, automation_id);

create table automation_steps (
	project_id uuid not null,
	automation_id uuid not null,
	id uuid not null default uuidv7(),
	type text not null,
	name text not null,
	x float8 not null default 0,
	y float8 not null default 0,
	config jsonb not null default '{}',
	template_id uuid,
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	constraint automation_steps_type_check check (type in ('TRIGGER', 'SEND_EMAIL', 'DELAY', 'WAIT_FOR_EVENT', 'CONDITION', 'WEBHOOK', 'UPDATE_CONTACT', 'EXIT')),
	primary key (project_id, automation_id, id)
);
create index automation_steps_template on automation_steps (project_id, template_id)
	where template_id is not null;

create table automation_transitions (
	project_id uuid not null,
	automation_id uuid not null,
	id uuid not null default uuidv7(),
	from_step_id uuid not null,
	to_step_id uuid not null,
	branch text,
	priority int not null default 0,
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	primary key (project_id, automation_id, id),
	constraint automation_transitions_branch unique nulls not distinct (project_id, automation_id, from_step_id, branch)
);
create index automation_transitions_to on automation_transitions (project_id, automation_id, to_step_id);

create table automation_versions (
	project_id uuid not null,
	automation_id uuid not null,
	version int not null,
	definition jsonb not null,
	hash text not null,
	positions jsonb not null,
	created_at timestamptz(3) not null default now(),
	primary key (project_id, automation_id, version)
);

create table automations (
	id uuid not null default uuidv7(),
	project_id uuid not null,
	name text not null,
	description text,
	enabled boolean not null default false,
	trigger_type text not null default 'EVENT',
	event_name text,
	schedule text,
	timezone text,
	segment_id uuid,
	allow_reentry boolean not null default false,
	current_version int,
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	constraint automations_trigger_type_check check (trigger_type in ('EVENT', 'MANUAL', 'SCHEDULE')),
	primary key (id),
	constraint automations_project_id_id_unique unique (project_id, id)
);
create index automations_of_event on automations (project_id, event_name)
	where enabled and trigger_type = 'EVENT';
create index automations_of_segment on automations (project_id, segment_id)
	where segment_id is not null;

create table enrolments (
	project_id uuid not null,
	automation_id uuid not null,
	scheduled_for timestamptz(3) not null,
	workflow_id text not null,
	audience jsonb not null,
	after uuid,
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	ended_at timestamptz(3),
	primary key (project_id, automation_id, scheduled_for)
);
create index enrolments_open on enrolments (updated_at)
	where ended_at is null;

create table removed_automations (
	project_id uuid not null,
	id uuid not null,
	primary key (project_id, id)
);
