create table rule_files (
	name text not null,
	digest text not null,
	applied_at timestamptz(3) not null default now(),
	primary key (name)
);

create table idempotency_keys (
	project_id uuid not null,
	key text not null,
	request text not null,
	claim_id uuid not null,
	claimed_at timestamptz(3) not null default now(),
	expires_at timestamptz(3) not null,
	status_code int,
	response jsonb,
	primary key (project_id, key)
);
create index idempotency_keys_expires_at_index on idempotency_keys (expires_at);

create table provider_states (
	name text not null,
	away_since timestamptz(3) not null,
	until timestamptz(3) not null,
	answer text not null,
	primary key (name)
);

create table request_budgets (
	project_id uuid not null,
	spender text not null,
	window_start timestamptz(3) not null,
	leased int not null,
	primary key (project_id, spender)
) with (fillfactor = 20);

create table send_budgets (
	project_id uuid not null,
	next_at timestamptz(6) not null,
	primary key (project_id)
) with (fillfactor = 20);

create table throttles (
	key bytea not null,
	tries timestamptz[] not null,
	expires_at timestamptz(3) not null,
	primary key (key)
) with (fillfactor = 50);
create index throttles_expires_at_index on throttles (expires_at);

create table worker_beats (
	id uuid not null default uuidv7(),
	beat_at timestamptz(3) not null default now(),
	primary key (id)
);
