import { Migration } from '@mikro-orm/migrations'

/** Replaced by outbox_in_turn. */
export class Migration20261125211501 extends Migration {
	override name = 'Migration20261125211501'

	override up() {
		this.addSql('drop index outbox_waiting')
	}
}
