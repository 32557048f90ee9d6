import { Migration } from '@mikro-orm/migrations'

/** Jobs: imports, what takes them back, and changes to many contacts. */
export class Migration20261121053100 extends Migration {
	override name = 'Migration20261121053100'

	override up() {
		this.addSql(`create table "import_changes" ("project_id" uuid not null, "job_id" uuid not null, "position" int not null, "changed_at" timestamptz(3) not null, "contact_ids" uuid[] not null, "marks" bigint[] not null, "befores" jsonb[] not null, primary key ("project_id", "job_id", "position"))`)
		this.addSql(`create table "import_files" ("project_id" uuid not null, "job_id" uuid not null, "content" bytea not null, primary key ("project_id", "job_id"))`)
		this.addSql(`create table "import_chunks" ("project_id" uuid not null, "job_id" uuid not null, "position" int not null, "rows" int[] not null, "emails" text[] not null, "subscribed" boolean[] not null, "data" jsonb[] not null, "repeats" int not null, primary key ("project_id", "job_id", "position"))`)
		this.addSql(`create table "jobs" ("project_id" uuid not null, "id" uuid not null default uuidv7(), "type" text not null, "state" text not null default 'waiting', "target" jsonb null, "import_id" uuid null, "total" int null, "position" int not null default 0, "created_count" int not null default 0, "changed_count" int not null default 0, "unchanged_count" int not null default 0, "removed_count" int not null default 0, "failed_count" int not null default 0, "failed_reason" text null, "created_at" timestamptz(3) not null default now(), "started_at" timestamptz(3) null, "finished_at" timestamptz(3) null, primary key ("project_id", "id"))`)
		this.addSql(`create index "jobs_undo" on "jobs" ("project_id", "import_id") where import_id is not null`)
		this.addSql(`create index "jobs_unfinished" on "jobs" ("created_at") where state in ('waiting', 'active')`)
		this.addSql(`create table "job_contacts" ("project_id" uuid not null, "job_id" uuid not null, "position" int not null, "contact_ids" uuid[] not null, primary key ("project_id", "job_id", "position"))`)
		this.addSql(`create table "job_errors" ("project_id" uuid not null, "job_id" uuid not null, "row" int not null, "contact_id" uuid null, "email" text null, "error" text not null, primary key ("project_id", "job_id", "row"))`)
		this.addSql(`alter table "jobs" add constraint "jobs_type_check" check ("type" in ('import', 'undo', 'bulk-subscribe', 'bulk-unsubscribe', 'bulk-delete', 'delete-field'))`)
		this.addSql(`alter table "jobs" add constraint "jobs_state_check" check ("state" in ('waiting', 'active', 'completed', 'failed', 'cancelled'))`)

		for (const table of ['import_changes', 'import_chunks', 'import_files', 'jobs', 'job_contacts', 'job_errors'])
			this.addSql(
				`alter table "${table}" add constraint "${table}_project" foreign key ("project_id") references "projects" ("id") on delete cascade`,
			)
		this.addSql(`alter table "jobs" add constraint "jobs_import" foreign key ("project_id", "import_id") references "jobs" ("project_id", "id") on delete cascade`)
		for (const table of ['import_changes', 'import_chunks', 'import_files', 'job_contacts', 'job_errors'])
			this.addSql(
				`alter table "${table}" add constraint "${table}_job" foreign key ("project_id", "job_id") references "jobs" ("project_id", "id") on delete cascade`,
			)

		// Squeezing a file of five megabytes takes longer than writing it, and it is there for seconds.
		this.addSql(`alter table "import_files" alter column "content" set storage external`)
		for (const column of ['emails', 'data'])
			this.addSql(`alter table "import_chunks" alter column "${column}" set storage external`)
		this.addSql(`alter table "jobs" set (fillfactor = 50)`)

		// Rows of one address become one, cell by cell, the later before the earlier.
		this.addSql(`create aggregate jsonb_merge (jsonb) (sfunc = jsonb_concat, stype = jsonb, initcond = '{}')`)
	}
}
