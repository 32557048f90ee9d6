import { Migration } from '@mikro-orm/migrations'

/** Who comes by a session: accounts, teams, and what they change. */
export class Migration20261121115317 extends Migration {
	override name = 'Migration20261121115317'

	override up() {
		this.addSql(`create table "sessions" ("id" uuid not null default uuidv7(), "user_id" uuid not null, "expires_at" timestamptz(3) not null, "created_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`create index "sessions_user_id_index" on "sessions" ("user_id")`)
		this.addSql(`create index "sessions_expires_at_index" on "sessions" ("expires_at")`)
		this.addSql(`create table "account_tokens" ("digest" bytea not null, "user_id" uuid not null, "purpose" text not null, "expires_at" timestamptz(3) not null, "created_at" timestamptz(3) not null default now(), primary key ("digest"))`)
		this.addSql(`create index "account_tokens_user_id_index" on "account_tokens" ("user_id")`)
		this.addSql(`create index "account_tokens_expires_at_index" on "account_tokens" ("expires_at")`)
		this.addSql(`alter table "account_tokens" add constraint "account_tokens_purpose_check" check ("purpose" in ('VERIFY_EMAIL', 'RESET_PASSWORD'))`)
		this.addSql(`create table "oauth_identities" ("provider" text not null, "subject" text not null, "user_id" uuid not null, "created_at" timestamptz(3) not null default now(), primary key ("provider", "subject"))`)
		this.addSql(`create index "oauth_identities_user_id_index" on "oauth_identities" ("user_id")`)
		this.addSql(`alter table "oauth_identities" add constraint "oauth_identities_provider_check" check ("provider" in ('github', 'google'))`)
		this.addSql(`create table "throttles" ("key" bytea not null, "tries" timestamptz[] not null, "expires_at" timestamptz(3) not null, primary key ("key"))`)
		this.addSql(`create index "throttles_expires_at_index" on "throttles" ("expires_at")`)
		this.addSql(`create table "invitations" ("project_id" uuid not null, "email" text not null, "role" text not null, "token_digest" bytea not null, "invited_by" text not null, "expires_at" timestamptz(3) not null, "created_at" timestamptz(3) not null default now(), primary key ("project_id", "email"))`)
		this.addSql(`alter table "invitations" add constraint "invitations_token_digest_unique" unique ("token_digest")`)
		this.addSql(`create index "invitations_expires_at_index" on "invitations" ("expires_at")`)
		this.addSql(`alter table "invitations" add constraint "invitations_role_check" check ("role" in ('MEMBER', 'ADMIN'))`)
		this.addSql(`create table "audit_entries" ("project_id" uuid not null, "id" uuid not null default uuidv7(), "user_id" uuid null, "actor" text not null, "action" text not null, "target" jsonb not null default '{}', "status" smallint not null, "ip" text not null, "user_agent" text null, "request_id" uuid not null, "created_at" timestamptz(3) not null default now(), primary key ("project_id", "id"))`)
		this.addSql(`create index "audit_entries_created_at_index" on "audit_entries" ("created_at")`)

		for (const table of ['sessions', 'account_tokens', 'oauth_identities'])
			this.addSql(`alter table "${table}" add constraint "${table}_user" foreign key ("user_id") references "users" ("id") on delete cascade`)
		this.addSql(`alter table "invitations" add constraint "invitations_project" foreign key ("project_id") references "projects" ("id") on delete cascade`)
		this.addSql(`alter table "throttles" set (fillfactor = 50)`)

		this.addSql(`alter table "projects" add "public_id" uuid null, add "owner_verified" boolean not null default true, add "deleted_at" timestamptz(3) null`)
		this.addSql(`update "projects" set "public_id" = "id"`)
		this.addSql(`alter table "projects" add constraint "projects_public_id_unique" unique ("public_id")`)
		this.addSql(`create index "projects_deleted_at_index" on "projects" ("deleted_at") where deleted_at is not null`)
		// A project is known by the id of its first data until a reset gives it other data.
		this.addSql(`create function name_project() returns trigger language plpgsql as $$
			begin
				new.public_id := coalesce(new.public_id, new.id);
				return new;
			end $$`)
		this.addSql(`create trigger projects_named before insert on projects for each row execute function name_project()`)
	}
}
