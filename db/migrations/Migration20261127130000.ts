import { Migration } from '@mikro-orm/migrations'

/** Each statement that writes mails adds to several tallies, and had its project looked up and locked for each of them. */
export class Migration20261127130000 extends Migration {
	override name = 'Migration20261127130000'

	override up() {
		for (const table of ['campaign', 'mail', 'usage', 'reputation', 'event'])
			this.addSql(
				`alter table ${table}_tallies alter constraint ${table}_tallies_project not enforced`,
			)
	}
}
