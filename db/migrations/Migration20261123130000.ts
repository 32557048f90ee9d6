import { Migration } from '@mikro-orm/migrations'

/** A mail that is sent within seconds is its own event: see db/events/sent-mails.sql. */
export class Migration20261123130000 extends Migration {
	override name = 'Migration20261123130000'

	override up() {
		this.addSql('alter table emails add column is_sent_event boolean not null default false')
	}
}
