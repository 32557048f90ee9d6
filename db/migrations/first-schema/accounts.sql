create table account_tokens (
	digest bytea not null,
	user_id uuid not null,
	purpose text not null,
	expires_at timestamptz(3) not null,
	created_at timestamptz(3) not null default now(),
	constraint account_tokens_purpose_check check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD')),
	primary key (digest)
);
create index account_tokens_expires_at_index on account_tokens (expires_at);
create index account_tokens_user_id_index on account_tokens (user_id);

create table oauth_identities (
	provider text not null,
	subject text not null,
	user_id uuid not null,
	created_at timestamptz(3) not null default now(),
	constraint oauth_identities_provider_check check (provider in ('github', 'google')),
	primary key (provider, subject)
);
create index oauth_identities_user_id_index on oauth_identities (user_id);

create table sessions (
	id uuid not null default uuidv7(),
	digest bytea not null,
	user_id uuid not null,
	expires_at timestamptz(3) not null,
	created_at timestamptz(3) not null default now(),
	primary key (id),
	constraint sessions_digest_unique unique (digest)
);
create index sessions_expires_at_index on sessions (expires_at);
create index sessions_user_id_index on sessions (user_id);

create table users (
	id uuid not null default uuidv7(),
	email text not null,
	password_hash text,
	email_verified_at timestamptz(3),
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	primary key (id),
	constraint users_email_unique unique (email)
);
