import { Migration } from '@mikro-orm/migrations'

/**
 * The deletion of a template took it out of each of its mails, in one statement. A mail now keeps it, and its trigger
 * checks it: see db/emails/emails.sql.
 */
export class Migration20261128021000 extends Migration {
	override name = 'Migration20261128021000'

	override up() {
		this.addSql(`alter table emails drop constraint emails_template`)
	}
}
