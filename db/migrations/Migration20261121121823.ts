import { Migration } from '@mikro-orm/migrations'

/** What campaigns ask of the ledger. */
export class Migration20261121121823 extends Migration {
	override name = 'Migration20261121121823'

	override up() {
		this.addSql(`alter table "emails" add column "batch_id" uuid null`)
		// A campaign updates all mails of a page in one statement, before which nothing of them can be
		// pruned: less than half of a page filled keeps all of it heap-only, where 60 % left every fifth
		// update to write into each index.
		this.addSql(`alter table "emails" set (fillfactor = 45)`)
	}
}
