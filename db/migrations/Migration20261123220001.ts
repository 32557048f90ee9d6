import { Migration } from '@mikro-orm/migrations'

/** An id for each invitation, by which the API names it. */
export class Migration20261123220001 extends Migration {
	override name = 'Migration20261123220001'

	override up() {
		this.addSql('alter table invitations add id uuid not null default uuidv7()')
		this.addSql('alter table invitations add constraint invitations_id_unique unique (id)')
	}
}
