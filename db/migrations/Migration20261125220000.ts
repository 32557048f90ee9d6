import { Migration } from '@mikro-orm/migrations'

/** Consent is asked until a mail leaves, whatever becomes of its contact: see db/emails/email.ts. */
export class Migration20261125220000 extends Migration {
	override name = 'Migration20261125220000'

	override up() {
		this.addSql('alter table emails add column needs_consent boolean')
	}
}
