import { Migration } from '@mikro-orm/migrations'

const free = `('FAILED', 'SUPPRESSED', 'CANCELLED')`
const platform = `'00000000-0000-7000-8000-000000000000'`
const month = (time: string) => `date_trunc('month', ${time}, 'UTC')::date`
const thisMonth = `date_trunc('month', now(), 'UTC')::date`

/** What left, or was refused for its address when it was handed over: the provider has had the work. */
const leftAt = `coalesce(sent_at, bounced_at)`

const weight = `case when attachments is null then 1 else 2 end`
const categoryOf = `case source_type when 'WORKFLOW' then 'workflows' when 'CAMPAIGN' then 'campaigns'
	when 'INBOUND' then 'inbound' else 'transactional' end`

/**
 * What mails come to, n-fold there or gone; see db/billing/usage-count.ts. Mails that came and left at the same
 * time are many, and mostly there and gone alike: they are counted before they are told apart.
 */
const usageOf = (...mails: [n: number, from: string][]) => `
	with alike as (
		select project_id, source_type, weight, created_at, left_at, sum(n)::int as n from (
			${mails.map(([n, from]) => `select project_id, source_type, created_at, ${leftAt} as left_at, ${n} as n,
				${weight} as weight
			from ${from} where status not in ${free} and project_id <> ${platform}`).join(' union all ')}
		) mails group by project_id, source_type, weight, created_at, left_at having sum(n) <> 0
	)
	select project_id, month, ${categoryOf} as category, sum(used)::int, sum(sent)::int
	from alike cross join lateral (
		select ${month('created_at')} as month, n * weight as used,
			case source_type when 'INBOUND' then n * weight else 0 end as sent
		where source_type <> 'CAMPAIGN'
		union all
		select ${month('left_at')}, case source_type when 'CAMPAIGN' then n * weight else 0 end, n * weight
		where left_at is not null and source_type <> 'INBOUND'
	) counted
	group by 1, 2, 3 having sum(used) <> 0 or sum(sent) <> 0`

const tally = (...mails: [n: number, from: string][]) => `
	insert into usage_tallies (project_id, month, category, used, sent) ${usageOf(...mails)};`

const has = (mails: string, condition: string) => `exists (select from ${mails} where ${condition})`

const categories = ['workflows', 'campaigns', 'transactional', 'inbound']
const category = (more: string[] = []) =>
	`text check (category in (${[...categories, ...more].map((name) => `'${name}'`).join(', ')})) not null`

/** What projects use and what they may, who pays for them, and what Stripe was told. */
export class Migration20261121152347 extends Migration {
	override name = 'Migration20261121152347'

	override up() {
		this.addSql(`create table "usage_tallies" ("project_id" uuid not null, "id" uuid not null default uuidv7(), "month" date not null, "category" ${category()}, "used" int not null, "sent" int not null, primary key ("project_id", "id"))`)
		this.addSql(`create table "usage_counts" ("project_id" uuid not null, "month" date not null, "category" ${category()}, "used" int not null, "sent" int not null, "judged" int not null default 0, primary key ("project_id", "month", "category"))`)
		this.addSql(`create index "usage_counts_unjudged" on "usage_counts" ("project_id") where used <> judged`)
		this.addSql(`create table "usage_notices" ("project_id" uuid not null, "month" date not null, "category" ${category(['total'])}, "level" smallint not null, "told_at" timestamptz(3) not null default now(), primary key ("project_id", "month", "category", "level"))`)
		this.addSql(`create table "usage_reports" ("project_id" uuid not null, "month" date not null, "id" uuid not null default uuidv7(), "value" int not null, "customer_id" text null, "at" timestamptz(3) not null, "attempted_at" timestamptz(3) null, "reported_at" timestamptz(3) null, "error" text null, primary key ("project_id", "month", "id"))`)
		this.addSql(`create index "usage_reports_pending" on "usage_reports" ("project_id", "id") where reported_at is null`)
		this.addSql(`create table "billing_accounts" ("project_id" uuid not null, "customer_id" text null, "subscription_id" text null, "subscribed" boolean not null default false, "currency" text null, "workflows_limit" int null, "campaigns_limit" int null, "transactional_limit" int null, "inbound_limit" int null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("project_id"))`)
		this.addSql(`alter table "billing_accounts" add constraint "billing_accounts_customer_id_unique" unique ("customer_id")`)
		for (const table of ['usage_tallies', 'usage_counts', 'usage_notices', 'usage_reports', 'billing_accounts'])
			this.addSql(`alter table "${table}" add constraint "${table}_project" foreign key ("project_id") references "projects" ("id") on delete cascade`)
		this.addSql(`alter table "usage_tallies" set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`)
		this.addSql(`alter table "usage_counts" set (fillfactor = 50)`)

		this.addSql(`insert into usage_counts (project_id, month, category, used, sent) ${usageOf([1, 'emails'])}`)

		// As with the counts of events: one folder at a time, and nobody waits for it.
		this.addSql(`create function fold_usage(project uuid) returns void language plpgsql as $$
			begin
				if not pg_try_advisory_xact_lock(hashtextextended('usage of ' || project, 0)) then
					return;
				end if;
				with gone as (
					delete from usage_tallies where project_id = project and id in (
						select id from usage_tallies where project_id = project order by id limit 2000
						for update skip locked)
					returning *
				)
				insert into usage_counts as c (project_id, month, category, used, sent)
				select project, month, category, sum(used), sum(sent) from gone group by month, category order by 1, 2, 3
				on conflict (project_id, month, category) do update
					set used = c.used + excluded.used, sent = c.sent + excluded.sent;
			end $$`)
		// Every accepted mail counts here, and few come at once: what they come to is quickly said. The rows
		// of a campaign pay for a look at them.
		this.addSql(`create function count_usage_of_new_mails() returns trigger language plpgsql as $$
			begin
				if ${has('added', `${leftAt} is not null`)} then
					${tally([1, 'added'])}
				else
					insert into usage_tallies (project_id, month, category, used, sent)
					select project_id, ${month('created_at')}, ${categoryOf}, sum(${weight}),
						sum(case source_type when 'INBOUND' then ${weight} else 0 end)
					from added
					where source_type <> 'CAMPAIGN' and status not in ${free} and project_id <> ${platform}
					group by 1, 2, 3;
				end if;
				return null;
			end $$`)
		// What changes the count either leaves or comes to nothing.
		this.addSql(`create function count_usage_of_changed_mails() returns trigger language plpgsql as $$
			declare
				noted int;
			begin
				if ${has('added', `${leftAt} is not null or status in ${free}`)}
					or ${has('removed', `${leftAt} is not null or status in ${free}`)} then
					${tally([1, 'added'], [-1, 'removed'])}
					get diagnostics noted = row_count;
					-- Requests read what is not folded yet, so it stays little.
					if noted > 0 and random() < 1.0 / 64 then
						perform fold_usage(project_id) from (select distinct project_id from added) touched;
					end if;
				end if;
				return null;
			end $$`)
		this.addSql(`create trigger emails_used after insert on emails
			referencing new table as added for each statement execute function count_usage_of_new_mails()`)
		this.addSql(`create trigger emails_used_changed after update on emails
			referencing old table as removed new table as added for each statement execute function count_usage_of_changed_mails()`)

		// What a project has used this month of what it may: null is no limit. Without a subscription there
		// is one on all together.
		this.addSql(`create function usage_standing(project uuid) returns table (category text, used bigint, allowed int)
			language sql stable as $$
				with counted as (
					select c.category, sum(c.used) as used from (
						select category, used from usage_counts where project_id = project and month = ${thisMonth}
						union all
						select category, used from usage_tallies where project_id = project and month = ${thisMonth}
					) c group by c.category
				), account as (
					select * from billing_accounts where project_id = project
				)
				select named.category, coalesce((select n.used from counted n where n.category = named.category), 0),
					named.allowed
				from (values ${categories.map((name) => `('${name}', (select ${name}_limit from account))`).join(', ')}
				) named (category, allowed)
				union all
				select 'total', coalesce(sum(n.used), 0)::bigint,
					case when not coalesce((select subscribed from account), false) then 1000 end
				from counted n
			$$`)
		// The limit of which the least is left to mail of this category; null: there is none.
		this.addSql(`create function nearest_limit(project uuid, of_category text) returns jsonb
			language sql stable as $$
				select jsonb_build_object('category', category, 'limit', allowed, 'usage', used)
				from usage_standing(project)
				where category in (of_category, 'total') and allowed is not null
				order by allowed - used limit 1
			$$`)
	}
}
