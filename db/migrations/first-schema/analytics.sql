create table feed_entries (
	project_id uuid not null,
	type text not null,
	at timestamptz(3) not null default now(),
	id uuid not null default uuidv7(),
	contact_id uuid,
	email_id uuid,
	metadata jsonb not null default '{}',
	constraint feed_entries_type_check check (type in ('email.failed', 'campaign.sent', 'campaign.scheduled', 'workflow.started', 'workflow.completed', 'workflow.email.scheduled')),
	primary key (project_id, type, at, id)
);
create index feed_entries_contact on feed_entries (project_id, contact_id, type, at, id)
	where contact_id is not null;

create table mail_counts (
	project_id uuid not null,
	slot timestamptz(3) not null,
	sent int not null default 0,
	delivered int not null default 0,
	opened int not null default 0,
	clicked int not null default 0,
	bounced int not null default 0,
	sent_opened int not null default 0,
	sent_clicked int not null default 0,
	created int not null default 0,
	primary key (project_id, slot)
) with (fillfactor = 50);

create table mail_tallies (
	project_id uuid not null,
	id uuid not null default uuidv7(),
	slot timestamptz(3) not null,
	sent int not null default 0,
	delivered int not null default 0,
	opened int not null default 0,
	clicked int not null default 0,
	bounced int not null default 0,
	sent_opened int not null default 0,
	sent_clicked int not null default 0,
	created int not null default 0,
	primary key (project_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
