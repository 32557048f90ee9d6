import { Migration } from '@mikro-orm/migrations'

/** Events have the moment at which they are written, under the lock of their contact. */
export class Migration20261122143000 extends Migration {
	override name = 'Migration20261122143000'

	override up() {
		this.addSql(`alter table "events" alter column "created_at" set default clock_timestamp()`)
	}
}
