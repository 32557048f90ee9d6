import { Migration } from '@mikro-orm/migrations'

/** Other edits of an automation no longer hide scheduled times that were missed: see db/automations/automation.ts. */
export class Migration20261127093000 extends Migration {
	override name = 'Migration20261127093000'

	override up() {
		this.addSql(
			`alter table automations add column scheduled_since timestamptz(3) not null default now()`,
		)
		this.addSql('update automations set scheduled_since = updated_at')
	}
}
