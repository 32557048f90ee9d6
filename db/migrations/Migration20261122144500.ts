import { Migration } from '@mikro-orm/migrations'

/** Campaigns are paused when their template takes too long. */
export class Migration20261122144500 extends Migration {
	override name = 'Migration20261122144500'

	override up() {
		this.addSql(`alter table "campaigns" drop constraint "campaigns_paused_reason_check"`)
		this.addSql(
			`alter table "campaigns" add constraint "campaigns_paused_reason_check" check ("paused_reason" in ('OWNER', 'BILLING_LIMIT', 'FAULT', 'TEMPLATE'))`,
		)
	}
}
