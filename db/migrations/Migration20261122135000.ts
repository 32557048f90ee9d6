import { Migration } from '@mikro-orm/migrations'

/** What an undo restored, so that the undo of an earlier import recognizes it. */
export class Migration20261122135000 extends Migration {
	override name = 'Migration20261122135000'

	override up() {
		this.addSql(`create table "restored_contacts" ("project_id" uuid not null, "contact_id" uuid not null, "restored_at" timestamptz(3) not null, "as_of" timestamptz(3) not null, primary key ("project_id", "contact_id", "restored_at"))`)
		this.addSql(`create index "restored_contacts_restored_at_index" on "restored_contacts" ("restored_at")`)
		this.addSql(`alter table "restored_contacts" add constraint "restored_contacts_project" foreign key ("project_id") references "projects" ("id") on delete cascade`)
	}
}
