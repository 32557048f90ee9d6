import { Migration } from '@mikro-orm/migrations'

export class Migration20261121053900 extends Migration {
	override name = 'Migration20261121053900'

	override up() {
		// How many mails a template has sent; mails without one do not pay for it.
		this.addSql(`create index "emails_by_template" on "emails" ("project_id", "template_id") where template_id is not null`)
	}
}
