import { Migration } from '@mikro-orm/migrations'

/** Counters of a campaign's mail are null until there is something to count: see db/emails/email.ts. */
export class Migration20261123151000 extends Migration {
	override name = 'Migration20261123151000'

	override up() {
		this.addSql(`alter table emails alter column granted_attempt drop not null, alter column opens drop not null,
			alter column clicks drop not null, alter column prefetches drop not null`)
	}
}
