import { Migration } from '@mikro-orm/migrations'

/** The local mailbox knows which mails have been read. */
export class Migration20261122131300 extends Migration {
	override name = 'Migration20261122131300'

	override up() {
		this.addSql(
			`alter table "mailbox_messages" add column "read" boolean not null default false`,
		)
	}
}
