import { Migration } from '@mikro-orm/migrations'

/** Patience begins with the first attempt: a campaign's mails may have waited for days before it. */
export class Migration20261121133147 extends Migration {
	override name = 'Migration20261121133147'

	override up() {
		this.addSql(`alter table "emails" add column "first_attempt_at" timestamptz(3) null`)
		this.addSql(`update emails e set first_attempt_at = coalesce((
				select min(at) from attempts a where a.project_id = e.project_id and a.email_id = e.id
			), attempt_started_at)
			where status in ('PENDING', 'SENDING', 'UNCERTAIN') and attempt > 0`)
	}
}
