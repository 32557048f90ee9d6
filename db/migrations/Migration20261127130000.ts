import { Migration } from '@mikro-orm/migrations'

/** A statement that writes mails adds to several tallies. For each, Postgres looked the project up and locked its row. */
export class Migration20261127130000 extends Migration {
	override name = 'Migration20261127130000'

	override up() {
		for (const table of ['campaign', 'mail', 'usage', 'reputation', 'event'])
			this.addSql(
				`alter table ${table}_tallies alter constraint ${table}_tallies_project not enforced`,
			)
	}
}
