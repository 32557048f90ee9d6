import { Migration } from '@mikro-orm/migrations'

/**
 * A mail keeps the id of its template. Postgres checked it row by row, also for the mails of campaigns, which have none,
 * and cleared it in all mails of a template when that was deleted.
 */
export class Migration20261126120000 extends Migration {
	override name = 'Migration20261126120000'

	override up() {
		this.addSql('alter table emails drop constraint emails_template')
	}
}
