import { Migration } from '@mikro-orm/migrations'

/** Projects take turns when opens and clicks are counted: see db/emails/engagement-fold.ts. */
export class Migration20261127193000 extends Migration {
	override name = 'Migration20261127193000'

	override up() {
		this.addSql(`create index engagements_turns on engagements (project_id, id)`)
	}
}
