import { Migration } from '@mikro-orm/migrations'

/** The recipients of a campaign whose mails are not in the ledger yet: see db/campaigns/audience-page.ts. */
export class Migration20261123090000 extends Migration {
	override name = 'Migration20261123090000'

	override up() {
		this.addSql(`create table audience_pages (
			project_id uuid not null,
			campaign_id uuid not null,
			until uuid not null,
			contact_ids uuid[] not null,
			size int not null,
			taken int not null default 0,
			primary key (project_id, campaign_id, until)
		) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`)
		this.addSql('alter table audience_pages alter column contact_ids set storage external')
		// Most rows have two versions now: see db/emails/email.ts.
		this.addSql('alter table emails set (fillfactor = 50)')
		this.addSql(`alter table audience_pages add constraint audience_pages_project
			foreign key (project_id) references projects(id) on delete cascade`)
		this.addSql(`alter table audience_pages add constraint audience_pages_campaign
			foreign key (project_id, campaign_id) references campaigns(project_id, id) on delete cascade`)
	}
}
