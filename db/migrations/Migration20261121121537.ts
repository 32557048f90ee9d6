import { Migration } from '@mikro-orm/migrations'

/** What a project's webhooks are signed with. */
export class Migration20261121121537 extends Migration {
	override name = 'Migration20261121121537'

	override up() {
		this.addSql(`create table "webhook_secrets" ("project_id" uuid not null, "secret" text not null, "previous" text null, "changed_at" timestamptz(3) not null default now(), primary key ("project_id"))`)
		this.addSql(`alter table "webhook_secrets" add constraint "webhook_secrets_project" foreign key ("project_id") references "projects" ("id") on delete cascade`)
	}
}
