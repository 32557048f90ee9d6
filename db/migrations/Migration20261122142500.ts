import { Migration } from '@mikro-orm/migrations'

/** A provider that is away has a row, for the processes that did not find out themselves. */
export class Migration20261122142500 extends Migration {
	override name = 'Migration20261122142500'

	override up() {
		this.addSql(
			`create table "provider_states" ("name" text not null, "away_since" timestamptz(3) not null, "until" timestamptz(3) not null, "answer" text not null, primary key ("name"))`,
		)
	}
}
