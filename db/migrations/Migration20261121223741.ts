import { Migration } from '@mikro-orm/migrations'

/** An enrolment that has ended is known for a while: who tries its last page again begins nobody. */
export class Migration20261121223741 extends Migration {
	override name = 'Migration20261121223741'

	override up() {
		this.addSql(`alter table "enrolments" add column "ended_at" timestamptz(3) null`)
		this.addSql(
			`create index "enrolments_open" on "enrolments" ("updated_at") where ended_at is null`,
		)
	}
}
