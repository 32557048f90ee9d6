import { Migration } from '@mikro-orm/migrations'

/** Reads all mails beside their writers. No row can break the constraint, which allows more than the one before. */
export class Migration20261123183100 extends Migration {
	override name = 'Migration20261123183100'
	/** Its transaction locks nothing that the migration before it has changed. */
	static isAlone = true

	override up() {
		this.addSql('alter table emails validate constraint emails_status_check')
	}
}
