import { Migration } from '@mikro-orm/migrations'

export class Migration20261121043000 extends Migration {
	override name = 'Migration20261121043000'

	override up() {
		this.addSql(`create table "attachments" ("project_id" uuid not null, "request_id" uuid not null, "position" int not null, "filename" text not null, "content_type" text not null, "content_id" text null, "inline" boolean not null default false, "content" bytea not null, primary key ("project_id", "request_id", "position"))`)
		this.addSql(`create table "attempts" ("project_id" uuid not null, "email_id" uuid not null, "attempt" int not null, "at" timestamptz(3) not null, "outcome" text not null, "provider" text null, "provider_message_id" text null, "error" text null, primary key ("project_id", "email_id", "attempt"))`)
		this.addSql(`alter table "attempts" add constraint "attempts_outcome_check" check ("outcome" in ('SENT', 'REJECTED', 'DEFERRED', 'UNAVAILABLE', 'UNKNOWN'))`)
		this.addSql(`create table "contacts" ("id" uuid not null default uuidv7(), "project_id" uuid not null, "email" text not null, "subscribed" boolean not null, "data" jsonb not null default '{}', "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`alter table "contacts" add constraint "contacts_project_id_email_unique" unique ("project_id", "email")`)
		this.addSql(`alter table "contacts" add constraint "contacts_project_id_id_unique" unique ("project_id", "id")`)
		this.addSql(`create table "domains" ("id" uuid not null default uuidv7(), "project_id" uuid not null, "domain" text not null, "verified_at" timestamptz(3) null, "sweep_exempt" boolean not null default false, "dkim_selector" text null, "dkim_private_key" bytea null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`alter table "domains" add constraint "domains_domain_unique" unique ("domain")`)
		this.addSql(`alter table "domains" add constraint "domains_project_id_id_unique" unique ("project_id", "id")`)
		this.addSql(`create table "emails" ("project_id" uuid not null, "id" uuid not null default uuidv7(), "contact_id" uuid null, "to" text not null, "to_name" text null, "from" text not null, "from_name" text null, "reply_to" text null, "subject" text not null, "body" text null, "headers" jsonb not null default '{}', "language" text not null default 'en', "type" text not null default 'TRANSACTIONAL', "source_type" text not null, "template_id" uuid null, "campaign_id" uuid null, "workflow_execution_id" uuid null, "workflow_step_execution_id" uuid null, "request_id" uuid null, "attachments" jsonb null, "status" text not null default 'PENDING', "attempt" int not null default 0, "attempt_started_at" timestamptz(3) null, "due_at" timestamptz(3) null, "granted_attempt" int not null default 0, "possible_repeat" boolean not null default false, "provider" text null, "provider_message_id" text null, "error" text null, "render_fault" text null, "sent_at" timestamptz(3) null, "delivered_at" timestamptz(3) null, "opened_at" timestamptz(3) null, "clicked_at" timestamptz(3) null, "bounced_at" timestamptz(3) null, "complained_at" timestamptz(3) null, "opens" int not null default 0, "clicks" int not null default 0, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("project_id", "id"))`)
		this.addSql(`create index "emails_contact" on "emails" ("project_id", "contact_id", "id") where contact_id is not null`)
		this.addSql(`alter table "emails" add constraint "emails_type_check" check ("type" in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS'))`)
		this.addSql(`alter table "emails" add constraint "emails_source_type_check" check ("source_type" in ('TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'))`)
		this.addSql(`alter table "emails" add constraint "emails_status_check" check ("status" in ('PENDING', 'SENDING', 'UNCERTAIN', 'SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED', 'RECEIVED'))`)
		this.addSql(`create table "events" ("id" uuid not null default uuidv7(), "project_id" uuid not null, "name" text not null, "data" jsonb not null default '{}', "contact_id" uuid null, "email_id" uuid null, "created_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`create index "events_contact" on "events" ("project_id", "contact_id", "name", "created_at")`)
		this.addSql(`create table "idempotency_keys" ("project_id" uuid not null, "key" text not null, "request" text not null, "claim_id" uuid not null, "claimed_at" timestamptz(3) not null default now(), "expires_at" timestamptz(3) not null, "status_code" int null, "response" jsonb null, primary key ("project_id", "key"))`)
		this.addSql(`create index "idempotency_keys_expires_at_index" on "idempotency_keys" ("expires_at")`)
		this.addSql(`create table "mailbox_messages" ("id" uuid not null default uuidv7(), "project_id" uuid not null, "email_id" uuid not null, "to" text not null, "from" text not null, "subject" text not null, "raw" bytea not null, "received_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`alter table "mailbox_messages" add constraint "mailbox_messages_email_id_unique" unique ("email_id")`)
		this.addSql(`create table "memberships" ("project_id" uuid not null, "user_id" uuid not null, "role" text not null default 'MEMBER', "created_at" timestamptz(3) not null default now(), primary key ("project_id", "user_id"))`)
		this.addSql(`create index "memberships_user_id_index" on "memberships" ("user_id")`)
		this.addSql(`alter table "memberships" add constraint "memberships_role_check" check ("role" in ('MEMBER', 'ADMIN', 'OWNER'))`)
		this.addSql(`create table "outbox" ("id" bigserial primary key, "project_id" uuid not null, "kind" text not null, "priority" smallint not null default 3, "workflow_type" text null, "workflow_id" text not null, "task_queue" text null, "payload" jsonb null, "summary" text null, "locked_until" timestamptz(3) null, "attempts" int not null default 0, "next_at" timestamptz(3) not null default now(), "done_at" timestamptz(3) null, "last_error" text null, "created_at" timestamptz(3) not null default now())`)
		this.addSql(`create index "outbox_waiting" on "outbox" ("priority", "id") where done_at is null`)
		this.addSql(`create index "outbox_sends" on "outbox" ("project_id", "done_at") where workflow_type = 'send'`)
		this.addSql(`create index "outbox_workflow" on "outbox" ("workflow_id")`)
		this.addSql(`alter table "outbox" add constraint "outbox_kind_check" check ("kind" in ('start', 'signal', 'cancel', 'terminate'))`)
		this.addSql(`create table "projects" ("id" uuid not null default uuidv7(), "name" text not null, "public_key" text not null, "secret_key_digest" bytea not null, "secret_key_ending" text not null, "tracking" text not null default 'ENABLED', "language" text not null default 'en', "send_rate_per_second" double precision null, "disabled_reason" text null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`alter table "projects" add constraint "projects_public_key_unique" unique ("public_key")`)
		this.addSql(`alter table "projects" add constraint "projects_secret_key_digest_unique" unique ("secret_key_digest")`)
		this.addSql(`alter table "projects" add constraint "projects_tracking_check" check ("tracking" in ('ENABLED', 'DISABLED', 'MARKETING_ONLY'))`)
		this.addSql(`alter table "projects" add constraint "projects_disabled_reason_check" check ("disabled_reason" in ('PAYMENT_FAILED', 'EMAIL_REPUTATION', 'MANUAL'))`)
		this.addSql(`create table "queued_sends" ("id" bigserial primary key, "project_id" uuid not null, "request_id" uuid not null, "email_ids" uuid[] not null, "claim_id" uuid null, "checked_at" timestamptz(3) null, "created_at" timestamptz(3) not null default now())`)
		this.addSql(`create index "queued_sends_waiting" on "queued_sends" ("project_id", "id") where claim_id is null`)
		this.addSql(`create index "queued_sends_claimed" on "queued_sends" ("claim_id") where claim_id is not null`)
		this.addSql(`create table "rate_budgets" ("project_id" uuid not null, "window_start" timestamptz(3) not null, "leased" int not null, primary key ("project_id"))`)
		this.addSql(`create table "send_budgets" ("project_id" uuid not null, "next_at" timestamptz(6) not null, primary key ("project_id"))`)
		this.addSql(`create table "suppressions" ("project_id" uuid not null, "email" text not null, "reason" text not null, "email_id" uuid null, "created_at" timestamptz(3) not null default now(), primary key ("project_id", "email"))`)
		this.addSql(`alter table "suppressions" add constraint "suppressions_reason_check" check ("reason" in ('BOUNCE', 'COMPLAINT', 'MANUAL', 'UNSUBSCRIBED_ALL'))`)
		this.addSql(`create table "templates" ("id" uuid not null default uuidv7(), "project_id" uuid not null, "name" text not null, "description" text null, "subject" text not null, "body" text not null, "from" text not null, "from_name" text null, "reply_to" text null, "type" text not null default 'MARKETING', "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`alter table "templates" add constraint "templates_project_id_id_unique" unique ("project_id", "id")`)
		this.addSql(`alter table "templates" add constraint "templates_type_check" check ("type" in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS'))`)
		this.addSql(`create table "users" ("id" uuid not null default uuidv7(), "email" text not null, "password_hash" text null, "email_verified_at" timestamptz(3) null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`alter table "users" add constraint "users_email_unique" unique ("email")`)
		this.addSql(`create table "worker_beats" ("id" uuid not null default uuidv7(), "beat_at" timestamptz(3) not null default now(), primary key ("id"))`)

		// Every row belongs to a project and goes with it.
		for (const table of [
			'attachments', 'attempts', 'contacts', 'domains', 'emails', 'events', 'idempotency_keys', 'mailbox_messages', 'memberships', 'outbox', 'queued_sends', 'rate_budgets', 'send_budgets', 'suppressions', 'templates',
		])
			this.addSql(
				`alter table "${table}" add constraint "${table}_project" foreign key ("project_id") references "projects" ("id") on delete cascade`,
			)
		this.addSql(`alter table "memberships" add constraint "memberships_user" foreign key ("user_id") references "users" ("id") on delete cascade`)

		// A reference carries the project, so that the database itself refuses another project's row.
		// Deleting a contact or a template leaves the ledger and the events standing.
		this.addSql(`alter table "emails" add constraint "emails_contact" foreign key ("project_id", "contact_id") references "contacts" ("project_id", "id") on delete set null ("contact_id")`)
		this.addSql(`alter table "emails" add constraint "emails_template" foreign key ("project_id", "template_id") references "templates" ("project_id", "id") on delete set null ("template_id")`)
		this.addSql(`alter table "attempts" add constraint "attempts_email" foreign key ("project_id", "email_id") references "emails" ("project_id", "id") on delete cascade`)
		this.addSql(`alter table "events" add constraint "events_contact" foreign key ("project_id", "contact_id") references "contacts" ("project_id", "id") on delete set null ("contact_id")`)
		this.addSql(`alter table "events" add constraint "events_email" foreign key ("project_id", "email_id") references "emails" ("project_id", "id") on delete set null ("email_id")`)

		// Room on each page keeps the ledger's three updates a mail heap-only; bodies lie beside the row,
		// so that those updates do not copy them.
		this.addSql(`alter table "emails" set (fillfactor = 60, toast_tuple_target = 512, autovacuum_vacuum_scale_factor = 0.05)`)
		this.addSql(`alter table "queued_sends" set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`)
		this.addSql(`alter table "outbox" set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`)
		this.addSql(`alter table "rate_budgets" set (fillfactor = 20)`)
		this.addSql(`alter table "send_budgets" set (fillfactor = 20)`)
	}
}
