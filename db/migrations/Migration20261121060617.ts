import { Migration } from '@mikro-orm/migrations'

/** The suppression list, newest first. */
export class Migration20261121060617 extends Migration {
	override name = 'Migration20261121060617'

	override up() {
		// Databases of the half hour in which this stood in Migration20261121053900 have it already.
		this.addSql(`create index if not exists "suppressions_newest" on "suppressions" ("project_id", "created_at", "email")`)
	}
}
