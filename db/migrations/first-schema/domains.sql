create table domains (
	id uuid not null default uuidv7(),
	project_id uuid not null,
	domain text not null,
	verified_at timestamptz(3),
	sweep_exempt boolean not null default false,
	dkim_selector text,
	dkim_private_key bytea,
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	dkim_public_key text,
	provider_domain_id text,
	records jsonb not null default '[]',
	failed_checks int not null default 0,
	last_error text,
	last_checked_at timestamptz(3),
	next_check_at timestamptz(3) not null default now(),
	token_exempt boolean not null default false,
	primary key (id),
	constraint domains_project_id_domain_unique unique (project_id, domain),
	constraint domains_project_id_id_unique unique (project_id, id)
);
create index domains_due on domains (next_check_at);
create unique index domains_verified on domains (domain)
	where verified_at is not null;
