create table segment_members (
	project_id uuid not null,
	segment_id uuid not null,
	contact_id uuid not null,
	computed boolean not null,
	created_at timestamptz(3) not null default now(),
	primary key (project_id, segment_id, contact_id)
);
create index segment_members_contact on segment_members (contact_id, segment_id);
create index segment_members_newest on segment_members (project_id, segment_id, created_at, contact_id)
	where not computed;

create table segment_tallies (
	project_id uuid not null,
	segment_id uuid not null,
	id uuid not null default uuidv7(),
	change int not null,
	primary key (project_id, segment_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table segments (
	id uuid not null default uuidv7(),
	project_id uuid not null,
	name text not null,
	description text,
	type text not null default 'DYNAMIC',
	condition jsonb,
	track_membership boolean not null default false,
	member_count int not null default 0,
	computed_until timestamptz(3),
	computed_fully_at timestamptz(3),
	sweep_at timestamptz(3),
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	constraint segments_type_check check (type in ('DYNAMIC', 'STATIC')),
	primary key (id),
	constraint segments_project_id_id_unique unique (project_id, id)
);
create index segments_due on segments (sweep_at, id)
	where sweep_at is not null;
