import { Migration } from '@mikro-orm/migrations'

/** The name of an import's file, for the list of imports. */
export class Migration20261124094000 extends Migration {
	override name = 'Migration20261124094000'

	override up() {
		this.addSql('alter table jobs add column file_name text')
	}
}
