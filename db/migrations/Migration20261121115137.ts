import { Migration } from '@mikro-orm/migrations'

/** What a mail counts as, for each column of campaign_tallies; see db/campaigns/campaign-count.ts. */
const counted = {
	pending: `status = 'PENDING'`,
	sending: `status = 'SENDING'`,
	uncertain: `status = 'UNCERTAIN'`,
	sent: `status in ('SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED')`,
	failed: `status = 'FAILED'`,
	skipped: `status in ('SUPPRESSED', 'CANCELLED')`,
	delivered: 'delivered_at is not null',
	opened: 'opened_at is not null',
	clicked: 'clicked_at is not null',
	bounced: 'bounced_at is not null',
	complained: 'complained_at is not null',
	unsubscribed: 'unsubscribed_at is not null',
}
const names = Object.keys(counted)
const columns = names.join(', ')

/** Appends what the mails (…, n), n-fold there or gone, come to. */
const tally = (mails: string) => `
	insert into campaign_tallies (project_id, campaign_id, ${columns})
	select * from (
		select project_id, campaign_id,
			${Object.entries(counted).map(([name, is]) => `coalesce(sum(n) filter (where ${is}), 0) as ${name}`).join(',\n\t\t\t')}
		from (${mails}) mails group by project_id, campaign_id
	) sums where (${columns}) <> (${names.map(() => '0').join(', ')});`
const times = (n: number, from: string) => `
	select project_id, campaign_id, status, delivered_at, opened_at, clicked_at, bounced_at, complained_at,
		unsubscribed_at, ${n} as n
	from ${from} where campaign_id is not null`

/** Campaigns, the counts of their mails, and their place in the ledger. */
export class Migration20261121115137 extends Migration {
	override name = 'Migration20261121115137'

	override up() {
		this.addSql(`create table "campaigns" ("id" uuid not null default uuidv7(), "project_id" uuid not null, "name" text not null, "description" text null, "subject" text not null, "body" text not null, "from" text not null, "from_name" text null, "reply_to" text null, "type" text not null default 'MARKETING', "template_id" uuid null, "audience_type" text not null, "audience_condition" jsonb null, "segment_id" uuid null, "status" text not null default 'DRAFT', "scheduled_for" timestamptz(3) null, "total_recipients" int not null default 0, "started_at" timestamptz(3) null, "project_name" text null, "language" text null, "tracking" text null, "materialised_until" uuid null, "materialised_at" timestamptz(3) null, "lane_bounds" uuid[] null, "paused_at" timestamptz(3) null, "paused_reason" text null, "cancelled_reason" text null, "sent_at" timestamptz(3) null, "closed_at" timestamptz(3) null, "deleted_at" timestamptz(3) null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`alter table "campaigns" add constraint "campaigns_project_id_id_unique" unique ("project_id", "id")`)
		this.addSql(`create index "campaigns_open" on "campaigns" ("started_at") where status <> 'DRAFT' and closed_at is null`)
		this.addSql(`alter table "campaigns" add constraint "campaigns_type_check" check ("type" in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS'))`)
		this.addSql(`alter table "campaigns" add constraint "campaigns_audience_type_check" check ("audience_type" in ('ALL', 'SEGMENT', 'FILTERED'))`)
		this.addSql(`alter table "campaigns" add constraint "campaigns_status_check" check ("status" in ('DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'))`)
		this.addSql(`alter table "campaigns" add constraint "campaigns_tracking_check" check ("tracking" in ('ENABLED', 'DISABLED', 'MARKETING_ONLY'))`)
		this.addSql(`alter table "campaigns" add constraint "campaigns_paused_reason_check" check ("paused_reason" in ('OWNER', 'BILLING_LIMIT', 'FAULT'))`)
		this.addSql(`alter table "campaigns" add constraint "campaigns_cancelled_reason_check" check ("cancelled_reason" in ('OWNER', 'PROJECT_DISABLED'))`)
		for (const table of ['campaign_tallies', 'campaign_counts']) {
			const ids = ['project_id', 'campaign_id', ...(table === 'campaign_tallies' ? ['id'] : [])]
			this.addSql(`create table "${table}" ("project_id" uuid not null, "campaign_id" uuid not null, ${ids.length === 3 ? '"id" uuid not null default uuidv7(), ' : ''}${names.map((name) => `"${name}" int not null default 0`).join(', ')}, primary key (${ids.join(', ')}))`)
		}

		for (const table of ['campaigns', 'campaign_tallies', 'campaign_counts'])
			this.addSql(
				`alter table "${table}" add constraint "${table}_project" foreign key ("project_id") references "projects" ("id") on delete cascade`,
			)
		for (const table of ['campaign_tallies', 'campaign_counts'])
			this.addSql(
				`alter table "${table}" add constraint "${table}_campaign" foreign key ("project_id", "campaign_id") references "campaigns" ("project_id", "id") on delete cascade`,
			)
		// Deleting what a campaign once used leaves the campaign standing; while it still needs them, the
		// API does not delete them.
		this.addSql(`alter table "campaigns" add constraint "campaigns_template" foreign key ("project_id", "template_id") references "templates" ("project_id", "id") on delete set null ("template_id")`)
		this.addSql(`alter table "campaigns" add constraint "campaigns_segment" foreign key ("project_id", "segment_id") references "segments" ("project_id", "id") on delete set null ("segment_id")`)
		this.addSql(`alter table "campaigns" set (fillfactor = 50)`)
		this.addSql(`alter table "campaign_tallies" set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`)
		this.addSql(`alter table "campaign_counts" set (fillfactor = 20)`)

		// One mail a contact, and the order in which lanes go through them.
		this.addSql(`create unique index "emails_campaign" on "emails" ("campaign_id", "contact_id") where campaign_id is not null`)
		this.addSql(`alter table "emails" add column "unsubscribed_at" timestamptz(3) null`)
		// The rows of a campaign are made from its own row, which stays as long as they do.
		this.addSql(`alter table "emails" add constraint "emails_campaign" foreign key ("project_id", "campaign_id") references "campaigns" ("project_id", "id") not enforced`)

		// One folder at a time for a campaign; who finds another at work leaves it to them. The last half
		// minute stays, for it tells how fast a campaign goes.
		this.addSql(`create function fold_campaign_tallies(project uuid, campaign uuid) returns void language plpgsql as $$
			begin
				if not pg_try_advisory_xact_lock(hashtextextended('campaign tallies of ' || campaign, 0)) then
					return;
				end if;
				with gone as (
					delete from campaign_tallies where project_id = project and campaign_id = campaign and id in (
						select id from campaign_tallies where project_id = project and campaign_id = campaign
							and id < (select uuidv7('-30 seconds'))
						order by id limit 2000 for update skip locked)
					returning *
				)
				insert into campaign_counts as c (project_id, campaign_id, ${columns})
				select project, campaign, ${names.map((name) => `sum(${name})`).join(', ')}
				from gone having count(*) > 0
				on conflict (project_id, campaign_id) do update
					set ${names.map((name) => `${name} = c.${name} + excluded.${name}`).join(', ')};
			end $$`)
		this.addSql(`create function tally_campaign_mails() returns trigger language plpgsql as $$
			begin
				if not exists (select from added where campaign_id is not null) then
					return null;
				elsif tg_op = 'INSERT' then ${tally(times(1, 'added'))}
				else ${tally(`${times(1, 'added')} union all ${times(-1, 'removed')}`)}
				end if;
				if random() < 1.0 / 64 then
					perform fold_campaign_tallies(project_id, campaign_id)
					from (select distinct project_id, campaign_id from added where campaign_id is not null) touched;
				end if;
				return null;
			end $$`)
		this.addSql(`create trigger emails_tallied after insert on emails
			referencing new table as added for each statement execute function tally_campaign_mails()`)
		this.addSql(`create trigger emails_tallied_changed after update on emails
			referencing old table as removed new table as added for each statement execute function tally_campaign_mails()`)
	}
}
