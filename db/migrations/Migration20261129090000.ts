import { Migration } from '@mikro-orm/migrations'

/** An enrolment that can't go on ends with the reason: see db/automations/enrolment.ts. */
export class Migration20261129090000 extends Migration {
	override name = 'Migration20261129090000'

	override up() {
		this.addSql('alter table enrolments add column error text')
	}
}
