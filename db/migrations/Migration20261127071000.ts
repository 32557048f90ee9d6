import { Migration } from '@mikro-orm/migrations'

/** Mails of workflows wait in a queue of their own, behind those of /v1/send: see db/emails/queued-send.ts. */
export class Migration20261127071000 extends Migration {
	override name = 'Migration20261127071000'

	override up() {
		this.addSql('alter table queued_sends add column priority int not null default 1')
		this.addSql(`create index queued_sends_next on queued_sends (project_id, priority, id)
			where claim_id is null`)
		this.addSql('drop index queued_sends_waiting')
	}
}
