import { Migration } from '@mikro-orm/migrations'

/** Mails that a provider gets in one request, and may have to get again in one. */
export class Migration20261121121823 extends Migration {
	override name = 'Migration20261121121823'

	override up() {
		this.addSql(`alter table "emails" add column "batch_id" uuid null`)
	}
}
