import { Migration } from '@mikro-orm/migrations'

/**
 * Any number of projects may claim a domain, and the first to prove it has it. Domains that are verified
 * keep the DNS records by which they are.
 */
export class Migration20261122134900 extends Migration {
	override name = 'Migration20261122134900'

	override up() {
		this.addSql(`alter table "domains" add column "token_exempt" boolean not null default false`)
		this.addSql(`update "domains" set "token_exempt" = true where verified_at is not null`)
		this.addSql(`create unique index "domains_verified" on "domains" ("domain") where verified_at is not null`)
		this.addSql(`alter table "domains" add constraint "domains_project_id_domain_unique" unique ("project_id", "domain")`)
		this.addSql(`alter table "domains" drop constraint "domains_domain_unique"`)
	}
}
