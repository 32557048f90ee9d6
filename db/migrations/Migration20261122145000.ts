import { Migration } from '@mikro-orm/migrations'

/** Marketing mail shows the sender's postal address, as it was when the mail or its campaign began. */
export class Migration20261122145000 extends Migration {
	override name = 'Migration20261122145000'

	override up() {
		for (const table of ['projects', 'campaigns', 'emails'])
			this.addSql(`alter table "${table}" add column "postal_address" text null`)
	}
}
