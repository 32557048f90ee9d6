create table templates (
	id uuid not null default uuidv7(),
	project_id uuid not null,
	name text not null,
	description text,
	subject text not null,
	body text not null,
	"from" text not null,
	from_name text,
	reply_to text,
	type text not null default 'MARKETING',
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	language text,
	constraint templates_type_check check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
	primary key (id),
	constraint templates_project_id_id_unique unique (project_id, id)
);
