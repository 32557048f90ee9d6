import { Migration } from '@mikro-orm/migrations'

/** What mails said is purged after a while. */
export class Migration20261121121457 extends Migration {
	override name = 'Migration20261121121457'

	override up() {
		this.addSql(
			`create index emails_with_body on emails (created_at) where body is not null`,
		)
	}
}
