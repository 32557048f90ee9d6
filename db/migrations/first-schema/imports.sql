create table import_changes (
	project_id uuid not null,
	job_id uuid not null,
	"position" int not null,
	changed_at timestamptz(3) not null,
	contact_ids uuid[] not null,
	marks bigint[] not null,
	befores jsonb[] not null,
	primary key (project_id, job_id, "position")
);
create index import_changes_contacts on import_changes using gin (contact_ids);

create table import_chunks (
	project_id uuid not null,
	job_id uuid not null,
	"position" int not null,
	rows int[] not null,
	emails text[] storage external not null,
	subscribed boolean[] not null,
	data jsonb[] storage external not null,
	repeats int not null,
	primary key (project_id, job_id, "position")
);

create table import_files (
	project_id uuid not null,
	job_id uuid not null,
	content bytea storage external not null,
	primary key (project_id, job_id)
);

create table restored_contacts (
	project_id uuid not null,
	contact_id uuid not null,
	restored_at timestamptz(3) not null,
	as_of timestamptz(3) not null,
	primary key (project_id, contact_id, restored_at)
);
create index restored_contacts_restored_at_index on restored_contacts (restored_at);
