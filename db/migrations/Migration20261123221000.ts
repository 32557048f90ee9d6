import { Migration } from '@mikro-orm/migrations'

/** The course of a campaign: its counts by minutes and hours. */
export class Migration20261123221000 extends Migration {
	override name = 'Migration20261123221000'

	override up() {
		this.addSql(`create table campaign_slots (
			project_id uuid not null,
			campaign_id uuid not null,
			slot timestamptz(3) not null,
			sent int not null default 0,
			delivered int not null default 0,
			opened int not null default 0,
			clicked int not null default 0,
			bounced int not null default 0,
			unsubscribed int not null default 0,
			primary key (project_id, campaign_id, slot),
			constraint campaign_slots_project foreign key (project_id) references projects (id) on delete cascade,
			constraint campaign_slots_campaign foreign key (project_id, campaign_id)
				references campaigns (project_id, id) on delete cascade)
			with (fillfactor = 80)`)
	}
}
