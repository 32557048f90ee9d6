import { Migration } from '@mikro-orm/migrations'

/** An import asked for a summary of every two pages it filled, and each that found no room was logged. */
export class Migration20261122132200 extends Migration {
	override name = 'Migration20261122132200'

	override up() {
		this.addSql(`alter index "contacts_written" set (autosummarize = off)`)
	}
}
