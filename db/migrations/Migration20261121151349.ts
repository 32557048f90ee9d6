import { Migration } from '@mikro-orm/migrations'

/** How many mails are in doubt is asked every few seconds, of a ledger of any size. */
export class Migration20261121151349 extends Migration {
	override name = 'Migration20261121151349'

	override up() {
		this.addSql(`create index "attempts_unknown" on "attempts" ("at") where outcome = 'UNKNOWN'`)
	}
}
