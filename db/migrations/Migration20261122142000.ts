import { Migration } from '@mikro-orm/migrations'

/** Where a person who is erased can still be found. */
export class Migration20261122142000 extends Migration {
	override name = 'Migration20261122142000'

	override up() {
		this.addSql(`create index "job_errors_address" on "job_errors" ("project_id", "email") where email is not null`)
		this.addSql(`create index "import_changes_contacts" on "import_changes" using gin ("contact_ids")`)
		this.addSql(`create index "audit_entries_address" on "audit_entries" ("project_id", ("target" ->> 'email')) where "target" ->> 'email' is not null`)
	}
}
