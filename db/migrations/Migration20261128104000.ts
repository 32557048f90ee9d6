import { Migration } from '@mikro-orm/migrations'

/** A campaign's mail to a contact that was deleted names its address: see db/contacts/removed-contact.ts. */
export class Migration20261128104000 extends Migration {
	override name = 'Migration20261128104000'

	override up() {
		this.addSql(`create table removed_contacts (
			project_id uuid not null,
			id uuid not null,
			email text not null,
			primary key (project_id, id)
		)`)
		this.addSql(
			`create index removed_contacts_project_id_email_index on removed_contacts (project_id, email)`,
		)
		this.addSql(`alter table removed_contacts add constraint removed_contacts_project
			foreign key (project_id) references projects(id) on delete cascade`)
	}
}
