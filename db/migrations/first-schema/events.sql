create table event_counts (
	project_id uuid not null,
	name text not null,
	day date not null,
	count bigint not null,
	primary key (project_id, name, day)
);

create table event_tallies (
	project_id uuid not null,
	id uuid not null default uuidv7(),
	name text not null,
	day date not null,
	count bigint not null,
	primary key (project_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table events (
	id uuid not null default uuidv7(),
	project_id uuid not null,
	name text not null,
	data jsonb not null default '{}',
	contact_id uuid,
	email_id uuid,
	created_at timestamptz(3) not null default clock_timestamp(),
	primary key (project_id, id)
);
create index events_contact on events (contact_id, name, created_at);
create index events_name on events (project_id, name, created_at, contact_id);
create index events_of_nobody on events (project_id, email_id)
	where contact_id is null and email_id is not null;
create index events_triggered on events (project_id, created_at, id)
	where name not like 'email.%' and name not in ('contact.subscribed', 'contact.unsubscribed');
