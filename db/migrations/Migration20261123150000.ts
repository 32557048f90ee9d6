import { Migration } from '@mikro-orm/migrations'

/** A campaign's mail leaves out what its campaign or its other columns say: see db/emails/email.ts. */
export class Migration20261123150000 extends Migration {
	override name = 'Migration20261123150000'

	override up() {
		this.addSql(`alter table emails alter column headers drop not null, alter column language drop not null,
			alter column type drop not null, alter column updated_at drop not null`)
	}
}
