create table contact_field_changes (
	project_id uuid not null,
	id uuid not null default uuidv7(),
	key text not null,
	type text not null,
	value jsonb,
	count bigint not null,
	bound jsonb,
	primary key (project_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table contact_field_values (
	project_id uuid not null,
	key text not null,
	type text not null,
	value jsonb not null,
	count bigint not null,
	primary key (project_id, key, type, value)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table contact_fields (
	project_id uuid not null,
	key text not null,
	type text not null,
	count bigint not null,
	bound jsonb,
	primary key (project_id, key, type)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table contacts (
	id uuid not null default uuidv7(),
	project_id uuid not null,
	email text not null,
	subscribed boolean not null,
	data jsonb not null default '{}',
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	primary key (id),
	constraint contacts_project_id_email_unique unique (project_id, email) include (subscribed, id),
	constraint contacts_project_id_id_unique unique (project_id, id)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.02);
create index contacts_newest on contacts (project_id, subscribed, created_at, id) include (email);
create index contacts_search on contacts using gin (email gin_trgm_ops);
create index contacts_written on contacts using brin (updated_at) with (pages_per_range = 2);
