import { Migration } from '@mikro-orm/migrations'

/** A job that takes another back overrides no decision made since that one: see db/jobs/job.ts. */
export class Migration20261129010000 extends Migration {
	override name = 'Migration20261129010000'

	override up() {
		this.addSql('alter table jobs add column decided_at timestamptz(3)')
	}
}
