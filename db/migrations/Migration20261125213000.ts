import { Migration } from '@mikro-orm/migrations'

/** Secrets of webhooks that still sign after several rotations within a day. */
export class Migration20261125213000 extends Migration {
	override name = 'Migration20261125213000'

	override up() {
		this.addSql('alter table webhook_endpoints add column older_secrets bytea[]')
		this.addSql('alter table webhook_secrets add column older text[]')
	}
}
