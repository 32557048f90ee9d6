import { Migration } from '@mikro-orm/migrations'

/** Links that log in. */
export class Migration20261123220000 extends Migration {
	override name = 'Migration20261123220000'

	override up() {
		this.addSql('alter table account_tokens drop constraint account_tokens_purpose_check')
		this.addSql(`alter table account_tokens add constraint account_tokens_purpose_check
			check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD', 'LOG_IN'))`)
	}
}
