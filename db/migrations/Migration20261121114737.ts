import { Migration } from '@mikro-orm/migrations'

/** The project of our own mails. */
export class Migration20261121114737 extends Migration {
	override name = 'Migration20261121114737'

	override up() {
		// What is no key can be looked up by none: nobody calls the API in its name.
		this.addSql(`insert into projects (id, name, public_key, secret_key_digest, secret_key_ending, tracking)
			values ('00000000-0000-7000-8000-000000000000', 'Tempost', 'none', '', '', 'DISABLED')`)
	}
}
