import { Migration } from '@mikro-orm/migrations'

/** A campaign's mail leaves its source to the campaign: see db/emails/email.ts. */
export class Migration20261125201500 extends Migration {
	override name = 'Migration20261125201500'

	override up() {
		this.addSql('alter table emails alter column source_type drop not null')
	}
}
