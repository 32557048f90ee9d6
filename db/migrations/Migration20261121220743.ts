import { Migration } from '@mikro-orm/migrations'

/** Those that are SENDING have none: their audience is read as it was before. */
export class Migration20261121220743 extends Migration {
	override name = 'Migration20261121220743'

	override up() {
		this.addSql(`alter table "campaigns" add column "frozen_audience" jsonb null`)
	}
}
