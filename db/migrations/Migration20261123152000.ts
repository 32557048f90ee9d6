import { Migration } from '@mikro-orm/migrations'

/** The outcome of a mail is longer than the mail that was born: see db/emails/email.ts. */
export class Migration20261123152000 extends Migration {
	override name = 'Migration20261123152000'

	override up() {
		this.addSql('alter table emails set (fillfactor = 45)')
	}
}
