import { Migration } from '@mikro-orm/migrations'

/** A contact has few mails, events and memberships: see db/contacts/few-per-contact.ts. */
export class Migration20261123080000 extends Migration {
	override name = 'Migration20261123080000'

	override up() {
		for (const table of ['emails', 'events', 'segment_members'])
			this.addSql(`alter table ${table} alter column contact_id set (n_distinct = -0.2)`)
	}
}
