create table job_contacts (
	project_id uuid not null,
	job_id uuid not null,
	"position" int not null,
	contact_ids uuid[] not null,
	primary key (project_id, job_id, "position")
);

create table job_errors (
	project_id uuid not null,
	job_id uuid not null,
	row int not null,
	contact_id uuid,
	email text,
	error text not null,
	primary key (project_id, job_id, row)
);
create index job_errors_address on job_errors (project_id, email)
	where email is not null;

create table jobs (
	project_id uuid not null,
	id uuid not null default uuidv7(),
	type text not null,
	state text not null default 'waiting',
	target jsonb,
	import_id uuid,
	total int,
	"position" int not null default 0,
	created_count int not null default 0,
	changed_count int not null default 0,
	unchanged_count int not null default 0,
	removed_count int not null default 0,
	failed_count int not null default 0,
	failed_reason text,
	created_at timestamptz(3) not null default now(),
	started_at timestamptz(3),
	finished_at timestamptz(3),
	constraint jobs_state_check check (state in ('waiting', 'active', 'completed', 'failed', 'cancelled')),
	constraint jobs_type_check check (type in ('import', 'undo', 'bulk-subscribe', 'bulk-unsubscribe', 'bulk-delete', 'delete-field')),
	primary key (project_id, id)
) with (fillfactor = 50);
create index jobs_undo on jobs (project_id, import_id)
	where import_id is not null;
create index jobs_unfinished on jobs (created_at)
	where state in ('waiting', 'active');
