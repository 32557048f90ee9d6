import { Migration } from '@mikro-orm/migrations'

/** Domains that stay unproved leave Resend: see db/domains/pending-domains.ts. */
export class Migration20261127190000 extends Migration {
	override name = 'Migration20261127190000'

	override up() {
		this.addSql(
			`alter table domains add column awaited_since timestamptz(3) not null default now()`,
		)
	}
}
