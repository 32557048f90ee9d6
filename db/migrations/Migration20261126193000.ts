import { Migration } from '@mikro-orm/migrations'

/** A reader's decision to get no mail at all is kept beside any reason: see db/contacts/subscription.ts. */
export class Migration20261126193000 extends Migration {
	override name = 'Migration20261126193000'

	override up() {
		this.addSql('alter table suppressions add column stopped_at timestamptz(3)')
		this.addSql(`update suppressions set stopped_at = created_at where reason = 'UNSUBSCRIBED_ALL'`)
	}
}
