import { Migration } from '@mikro-orm/migrations'

/** A failed payment is kept apart from the reason for which a project is disabled: see db/billing/billing-accounts.ts. */
export class Migration20261129050000 extends Migration {
	override name = 'Migration20261129050000'

	override up() {
		this.addSql('alter table billing_accounts add column payment_failed boolean not null default false')
		this.addSql(`update billing_accounts a set payment_failed = true from projects p
			where p.id = a.project_id and p.disabled_reason = 'PAYMENT_FAILED'`)
	}
}
