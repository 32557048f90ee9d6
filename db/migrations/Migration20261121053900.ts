import { Migration } from '@mikro-orm/migrations'

/** The suppression list, newest first. */
export class Migration20261121053900 extends Migration {
	override name = 'Migration20261121053900'

	override up() {
		this.addSql(`create index "suppressions_newest" on "suppressions" ("project_id", "created_at", "email")`)
	}
}
