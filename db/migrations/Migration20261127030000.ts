import { Migration } from '@mikro-orm/migrations'

/** A reader's own decision to leave counts even if they had left before: see db/jobs/jobs.ts. */
export class Migration20261127030000 extends Migration {
	override name = 'Migration20261127030000'

	override up() {
		this.addSql('alter table contacts add column refused_at timestamptz(3)')
	}
}
