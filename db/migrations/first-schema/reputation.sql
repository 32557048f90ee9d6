create table provider_events (
	id text not null,
	received_at timestamptz(3) not null default now(),
	evidence jsonb,
	primary key (id)
);
create index provider_events_received_at_index on provider_events (received_at);
create index provider_events_unmatched on provider_events (received_at)
	where evidence is not null;

create table reputation_counts (
	project_id uuid not null,
	hour timestamptz(3) not null,
	total bigint not null,
	bounces bigint not null,
	complaints bigint not null,
	primary key (project_id, hour)
);

create table reputation_tallies (
	project_id uuid not null,
	id uuid not null default uuidv7(),
	hour timestamptz(3) not null,
	total bigint not null,
	bounces bigint not null,
	complaints bigint not null,
	primary key (project_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table suppressions (
	project_id uuid not null,
	email text not null,
	reason text not null,
	email_id uuid,
	created_at timestamptz(3) not null default now(),
	constraint suppressions_reason_check check (reason in ('BOUNCE', 'COMPLAINT', 'MANUAL', 'UNSUBSCRIBED_ALL')),
	primary key (project_id, email)
);
create index suppressions_newest on suppressions (project_id, created_at, email);

create table suspensions (
	project_id uuid not null,
	id uuid not null default uuidv7(),
	at timestamptz(3) not null default now(),
	reason text not null,
	signal text,
	lifted_at timestamptz(3),
	told_at timestamptz(3),
	constraint suspensions_reason_check check (reason in ('PAYMENT_FAILED', 'EMAIL_REPUTATION', 'MANUAL')),
	constraint suspensions_signal_check check (signal in ('bounces', 'complaints')),
	primary key (project_id, id)
);
