import { Migration } from '@mikro-orm/migrations'

/** A WEBHOOK step that is being retried shows how often it was called. */
export class Migration20261122150000 extends Migration {
	override name = 'Migration20261122150000'

	override up() {
		this.addSql(`alter table "execution_steps" add column "attempts" int null`)
	}
}
