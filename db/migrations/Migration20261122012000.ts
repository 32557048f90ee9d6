import { Migration } from '@mikro-orm/migrations'

/**
 * Mails are found by the statuses that few of them have. The ledger is written anew, once; most of its
 * updates stay heap-only, as none of its ordinary statuses is in the index. Mails in doubt are found by
 * it, too.
 */
export class Migration20261122012000 extends Migration {
	override name = 'Migration20261122012000'

	override up() {
		const rare = `'UNCERTAIN', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED', 'RECEIVED'`
		this.addSql(
			`alter table "emails" add column "rare_status" text null generated always as (case when status in (${rare}) then status else null end) stored`,
		)
		this.addSql(
			`create index "emails_rare" on "emails" ("rare_status", "project_id", "id") where rare_status is not null`,
		)
		this.addSql(`drop index "attempts_unknown"`)
	}
}
