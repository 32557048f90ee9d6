create table attachments (
	project_id uuid not null,
	request_id uuid not null,
	"position" int not null,
	filename text not null,
	content_type text not null,
	content_id text,
	inline boolean not null default false,
	content bytea not null,
	primary key (project_id, request_id, "position")
);

create table attempts (
	project_id uuid not null,
	email_id uuid not null,
	attempt int not null,
	at timestamptz(3) not null,
	outcome text not null,
	provider text,
	provider_message_id text,
	error text,
	constraint attempts_outcome_check check (outcome in ('SENT', 'REJECTED', 'DEFERRED', 'UNAVAILABLE', 'UNKNOWN')),
	primary key (project_id, email_id, attempt)
);
create index attempts_provider_message on attempts (provider_message_id)
	where provider = 'resend';

create table emails (
	project_id uuid not null,
	id uuid not null default uuidv7(),
	contact_id uuid,
	"to" text not null,
	to_name text,
	"from" text not null,
	from_name text,
	reply_to text,
	subject text not null,
	body text,
	headers jsonb not null default '{}',
	language text not null default 'en',
	type text not null default 'TRANSACTIONAL',
	source_type text not null,
	template_id uuid,
	campaign_id uuid,
	workflow_execution_id uuid,
	workflow_step_execution_id uuid,
	request_id uuid,
	attachments jsonb,
	status text not null default 'PENDING',
	attempt int not null default 0,
	attempt_started_at timestamptz(3),
	due_at timestamptz(3),
	granted_attempt int not null default 0,
	possible_repeat boolean not null default false,
	provider text,
	provider_message_id text,
	error text,
	render_fault text,
	sent_at timestamptz(3),
	delivered_at timestamptz(3),
	opened_at timestamptz(3),
	clicked_at timestamptz(3),
	bounced_at timestamptz(3),
	complained_at timestamptz(3),
	opens int not null default 0,
	clicks int not null default 0,
	created_at timestamptz(3) not null default now(),
	updated_at timestamptz(3) not null default now(),
	unsubscribed_at timestamptz(3),
	tracked boolean,
	prefetches int not null default 0,
	batch_id uuid,
	first_attempt_at timestamptz(3),
	rare_status text generated always as (case when status in ('UNCERTAIN', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED', 'RECEIVED') then status end) stored,
	content_language text,
	postal_address text,
	constraint emails_source_type_check check (source_type in ('TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND')),
	constraint emails_status_check check (status in ('PENDING', 'SENDING', 'UNCERTAIN', 'SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED', 'RECEIVED')),
	constraint emails_type_check check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
	primary key (project_id, id)
) with (toast_tuple_target = 512, autovacuum_vacuum_scale_factor = 0.05, fillfactor = 45);
create index emails_by_template on emails (project_id, template_id)
	where template_id is not null;
create unique index emails_campaign on emails (campaign_id, contact_id)
	where campaign_id is not null;
create index emails_campaign_due on emails (campaign_id, due_at)
	where campaign_id is not null and due_at is not null;
create index emails_contact on emails (contact_id, id)
	where contact_id is not null;
create index emails_of_nobody on emails (project_id, (case source_type when 'INBOUND' then "from" else "to" end))
	where contact_id is null;
create index emails_rare on emails (rare_status, project_id, id)
	where rare_status is not null;
create unique index emails_step_execution on emails (project_id, workflow_step_execution_id)
	where workflow_step_execution_id is not null;
create index emails_with_body on emails (created_at)
	where body is not null;

create table engagements (
	id bigserial not null,
	project_id uuid not null,
	email_id uuid not null,
	campaign_id uuid,
	kind text not null,
	link text,
	fetcher text not null,
	at timestamptz(3) not null,
	constraint engagements_fetcher_check check (fetcher in ('PERSON', 'PROXY', 'MACHINE')),
	constraint engagements_kind_check check (kind in ('OPEN', 'CLICK')),
	primary key (id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table mailbox_messages (
	id uuid not null default uuidv7(),
	project_id uuid not null,
	email_id uuid not null,
	"to" text not null,
	"from" text not null,
	subject text not null,
	raw bytea not null,
	received_at timestamptz(3) not null default now(),
	read boolean not null default false,
	primary key (id),
	constraint mailbox_messages_email_id_unique unique (email_id)
);

create table queued_sends (
	id bigserial not null,
	project_id uuid not null,
	request_id uuid not null,
	email_ids uuid[] not null,
	claim_id uuid,
	checked_at timestamptz(3),
	created_at timestamptz(3) not null default now(),
	trace text default nullif(current_setting('tempost.trace', true), ''),
	primary key (id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index queued_sends_claimed on queued_sends (claim_id)
	where claim_id is not null;
create index queued_sends_waiting on queued_sends (project_id, id)
	where claim_id is null;
