import { Migration } from '@mikro-orm/migrations'

/** What is still to be done outside for rows that are gone is found among all that Temporal was told. */
export class Migration20261121220537 extends Migration {
	override name = 'Migration20261121220537'

	override up() {
		this.addSql(
			`create index "outbox_errands" on "outbox" ("project_id", "done_at") where workflow_type in ('endSubscription', 'removeDomain')`,
		)
	}
}
