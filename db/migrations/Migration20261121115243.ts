import { Migration } from '@mikro-orm/migrations'

/** Opens and clicks: on their way into the ledger, and what the ledger remembers of them. */
export class Migration20261121115243 extends Migration {
	override name = 'Migration20261121115243'

	override up() {
		this.addSql(`alter table "emails" add column "tracked" boolean null, add column "prefetches" int not null default 0`)

		this.addSql(`create table "engagements" ("id" bigserial primary key, "project_id" uuid not null, "email_id" uuid not null, "campaign_id" uuid null, "kind" text not null, "link" text null, "fetcher" text not null, "at" timestamptz(3) not null)`)
		this.addSql(`alter table "engagements" add constraint "engagements_kind_check" check ("kind" in ('OPEN', 'CLICK'))`)
		this.addSql(`alter table "engagements" add constraint "engagements_fetcher_check" check ("fetcher" in ('PERSON', 'PROXY', 'MACHINE'))`)
		this.addSql(`alter table "engagements" add constraint "engagements_project" foreign key ("project_id") references "projects" ("id") on delete cascade`)
		this.addSql(`alter table "engagements" set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`)
	}
}
