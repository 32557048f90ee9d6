import { Migration } from '@mikro-orm/migrations'

/** Replaced by emails_waiting. */
export class Migration20261126190001 extends Migration {
	override name = 'Migration20261126190001'

	override up() {
		this.addSql('drop index emails_campaign_due')
	}
}
