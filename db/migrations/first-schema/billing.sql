create table billing_accounts (
	project_id uuid not null,
	customer_id text,
	subscription_id text,
	subscribed boolean not null default false,
	currency text,
	workflows_limit int,
	campaigns_limit int,
	transactional_limit int,
	inbound_limit int,
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	primary key (project_id),
	constraint billing_accounts_customer_id_unique unique (customer_id)
);

create table usage_counts (
	project_id uuid not null,
	month date not null,
	category text not null,
	used int not null,
	sent int not null,
	judged int not null default 0,
	constraint usage_counts_category_check check (category in ('workflows', 'campaigns', 'transactional', 'inbound')),
	primary key (project_id, month, category)
) with (fillfactor = 50);
create index usage_counts_unjudged on usage_counts (project_id)
	where used <> judged;

create table usage_notices (
	project_id uuid not null,
	month date not null,
	category text not null,
	level smallint not null,
	told_at timestamptz(3) not null default now(),
	constraint usage_notices_category_check check (category in ('workflows', 'campaigns', 'transactional', 'inbound', 'total')),
	primary key (project_id, month, category, level)
);

create table usage_reports (
	project_id uuid not null,
	month date not null,
	id uuid not null default uuidv7(),
	value int not null,
	customer_id text,
	at timestamptz(3) not null,
	attempted_at timestamptz(3),
	reported_at timestamptz(3),
	error text,
	primary key (project_id, month, id)
);
create index usage_reports_pending on usage_reports (project_id, id)
	where reported_at is null;

create table usage_tallies (
	project_id uuid not null,
	id uuid not null default uuidv7(),
	month date not null,
	category text not null,
	used int not null,
	sent int not null,
	constraint usage_tallies_category_check check (category in ('workflows', 'campaigns', 'transactional', 'inbound')),
	primary key (project_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
