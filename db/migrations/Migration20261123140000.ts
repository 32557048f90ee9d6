import { Migration } from '@mikro-orm/migrations'

/** Mails of a campaign don't repeat what the campaign says: see db/emails/email.ts. */
export class Migration20261123140000 extends Migration {
	override name = 'Migration20261123140000'

	override up() {
		this.addSql('alter table emails alter column "from" drop not null, alter column subject drop not null')
	}
}
