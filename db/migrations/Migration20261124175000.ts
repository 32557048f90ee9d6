import { Migration } from '@mikro-orm/migrations'

/** A campaign is paused if its project has lost the sender's domain by the time it starts. */
export class Migration20261124175000 extends Migration {
	override name = 'Migration20261124175000'

	override up() {
		this.addSql('alter table campaigns drop constraint campaigns_paused_reason_check')
		this.addSql(`alter table campaigns add constraint campaigns_paused_reason_check
			check (paused_reason in ('OWNER', 'BILLING_LIMIT', 'FAULT', 'TEMPLATE', 'SENDER'))`)
	}
}
