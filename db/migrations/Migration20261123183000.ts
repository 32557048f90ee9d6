import { Migration } from '@mikro-orm/migrations'

/**
 * Mails may have a text part of their own, tags, a due time and a key by which they are throttled. The next migration
 * validates the constraint, while others write.
 */
export class Migration20261123183000 extends Migration {
	override name = 'Migration20261123183000'

	override up() {
		this.addSql(`alter table emails add column "text" text, add column tags jsonb,
			add column scheduled_for timestamptz(3), add column throttle_key text,
			drop constraint emails_status_check,
			add constraint emails_status_check check (status in ('SCHEDULED', 'PENDING', 'SENDING', 'UNCERTAIN', 'SENT',
				'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED', 'RECEIVED'))
				not valid`)
		this.addSql(`create table scheduled_sends (
			project_id uuid not null,
			email_id uuid not null,
			due_at timestamptz(3) not null,
			needs_consent boolean not null default false,
			primary key (project_id, email_id),
			constraint scheduled_sends_project foreign key (project_id) references projects (id) on delete cascade)
			with (autovacuum_vacuum_scale_factor = 0.02)`)
		this.addSql('create index scheduled_sends_due on scheduled_sends (project_id, due_at, email_id)')
		this.addSql('create index scheduled_sends_soonest on scheduled_sends (due_at)')
	}
}
