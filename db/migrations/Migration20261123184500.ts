import { Migration } from '@mikro-orm/migrations'

/** Mails may have copies. The local mailbox keeps the blind ones, which no header names. */
export class Migration20261123184500 extends Migration {
	override name = 'Migration20261123184500'

	override up() {
		this.addSql('alter table emails add column copies jsonb')
		this.addSql(`alter table mailbox_messages add column bcc text[] not null default '{}'`)
	}
}
