import { Migration } from '@mikro-orm/migrations'

/** Domains are checked, again and again. */
export class Migration20261121123519 extends Migration {
	override name = 'Migration20261121123519'

	override up() {
		this.addSql(`alter table "domains" add column "dkim_public_key" text null, add column "provider_domain_id" text null, add column "records" jsonb not null default '[]', add column "failed_checks" int not null default 0, add column "last_error" text null, add column "last_checked_at" timestamptz(3) null, add column "next_check_at" timestamptz(3) not null default now()`)
		this.addSql(`create index "domains_due" on "domains" ("next_check_at")`)
	}
}
