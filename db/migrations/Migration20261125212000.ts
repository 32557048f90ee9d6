import { Migration } from '@mikro-orm/migrations'

/** The targets of bulk jobs that have ended may name people, and nothing reads them: see db/jobs/jobs.ts. */
export class Migration20261125212000 extends Migration {
	override name = 'Migration20261125212000'

	override up() {
		this.addSql(`update jobs set target = null where target is not null and state in ('completed', 'failed', 'cancelled')
			and type in ('bulk-subscribe', 'bulk-unsubscribe', 'bulk-delete', 'delete-field')`)
	}
}
