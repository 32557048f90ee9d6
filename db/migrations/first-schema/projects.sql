create table audit_entries (
	project_id uuid not null,
	id uuid not null default uuidv7(),
	user_id uuid,
	actor text not null,
	action text not null,
	target jsonb not null default '{}',
	status smallint not null,
	ip text not null,
	user_agent text,
	request_id uuid not null,
	created_at timestamptz(3) not null default now(),
	primary key (project_id, id)
);
create index audit_entries_address on audit_entries (project_id, ((target ->> 'email')))
	where (target ->> 'email') is not null;
create index audit_entries_created_at_index on audit_entries (created_at);

create table invitations (
	project_id uuid not null,
	email text not null,
	role text not null,
	token_digest bytea not null,
	invited_by text not null,
	expires_at timestamptz(3) not null,
	created_at timestamptz(3) not null default now(),
	constraint invitations_role_check check (role in ('MEMBER', 'ADMIN')),
	primary key (project_id, email),
	constraint invitations_token_digest_unique unique (token_digest)
);
create index invitations_expires_at_index on invitations (expires_at);

create table memberships (
	project_id uuid not null,
	user_id uuid not null,
	role text not null default 'MEMBER',
	created_at timestamptz(3) not null default now(),
	constraint memberships_role_check check (role in ('MEMBER', 'ADMIN', 'OWNER')),
	primary key (project_id, user_id)
);
create index memberships_user_id_index on memberships (user_id);

create table projects (
	id uuid not null default uuidv7(),
	name text not null,
	public_key text not null,
	secret_key_digest bytea not null,
	secret_key_ending text not null,
	tracking text not null default 'ENABLED',
	language text not null default 'en',
	send_rate_per_second float8,
	disabled_reason text,
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	public_id uuid,
	owner_verified boolean not null default true,
	deleted_at timestamptz(3),
	postal_address text,
	constraint projects_disabled_reason_check check (disabled_reason in ('PAYMENT_FAILED', 'EMAIL_REPUTATION', 'MANUAL')),
	constraint projects_tracking_check check (tracking in ('ENABLED', 'DISABLED', 'MARKETING_ONLY')),
	primary key (id),
	constraint projects_public_id_unique unique (public_id),
	constraint projects_public_key_unique unique (public_key),
	constraint projects_secret_key_digest_unique unique (secret_key_digest)
);
create index projects_deleted_at_index on projects (deleted_at)
	where deleted_at is not null;

create table webhook_secrets (
	project_id uuid not null,
	secret text not null,
	previous text,
	changed_at timestamptz(3) not null default now(),
	primary key (project_id)
);
