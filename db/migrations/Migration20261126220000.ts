import { Migration } from '@mikro-orm/migrations'

/** The person that a mail to another address was written about: see db/emails/email.ts. */
export class Migration20261126220000 extends Migration {
	override name = 'Migration20261126220000'

	override up() {
		this.addSql('alter table emails add column about_contact_id uuid')
	}
}
