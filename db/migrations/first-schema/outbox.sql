create table outbox (
	id bigserial not null,
	project_id uuid not null,
	kind text not null,
	priority smallint not null default 3,
	workflow_type text,
	workflow_id text not null,
	task_queue text,
	payload jsonb,
	summary text,
	locked_until timestamptz(3),
	attempts int not null default 0,
	next_at timestamptz(3) not null default now(),
	done_at timestamptz(3),
	last_error text,
	created_at timestamptz(3) not null default now(),
	search_attributes jsonb,
	trace text default nullif(current_setting('tempost.trace', true), ''),
	trace_links text[],
	constraint outbox_kind_check check (kind in ('start', 'signal', 'cancel', 'terminate', 'schedule')),
	primary key (id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index outbox_errands on outbox (project_id, done_at)
	where workflow_type in ('endSubscription', 'removeDomain');
create index outbox_sends on outbox (project_id, done_at)
	where workflow_type = 'send';
create index outbox_waiting on outbox (priority, id)
	where done_at is null;
create index outbox_workflow on outbox (workflow_id);
