import { Migration } from '@mikro-orm/migrations'

const names = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'sent_opened', 'sent_clicked']
const columns = names.join(', ')
const times = ['sent_at', 'delivered_at', 'opened_at', 'clicked_at', 'bounced_at']

/**
 * What has happened to mails, n-fold there or gone, by quarters of an hour; see db/analytics/mail-count.ts. Mails
 * to which the same happened at the same time are many, and mostly there and gone alike: they are
 * counted before their columns are told apart.
 */
const countsOf = (...mails: [n: number, from: string][]) => {
	const slots = times.map((at) => `date_bin('15 minutes', ${at}, '2000-01-01Z') as ${at}`)
	const sums = names.map((name) => `sum(n * ${name})`)
	return `
	with alike as (
		select project_id, ${times.join(', ')}, sum(n)::int as n from (
			${mails.map(([n, from]) => `select project_id, ${slots.join(', ')}, ${n} as n from ${from}`).join(' union all ')}
		) mails group by project_id, ${times.join(', ')} having sum(n) <> 0
	)
	select project_id, at, ${sums.join(', ')} from alike cross join lateral (values
		(sent_at, 1, 0, 0, 0, 0, (opened_at is not null)::int, (clicked_at is not null)::int),
		(delivered_at, 0, 1, 0, 0, 0, 0, 0), (opened_at, 0, 0, 1, 0, 0, 0, 0),
		(clicked_at, 0, 0, 0, 1, 0, 0, 0), (bounced_at, 0, 0, 0, 0, 1, 0, 0)
	) happened (at, ${columns})
	where at is not null
	group by project_id, at having (${sums.join(', ')}) <> (${names.map(() => '0').join(', ')})`
}
const tally = (...mails: [n: number, from: string][]) => `
	insert into mail_tallies (project_id, slot, ${columns}) ${countsOf(...mails)};`

const has = (mails: string, condition: string) => `exists (select from ${mails} where ${condition})`
const hasHappened = `coalesce(${times.join(', ')}) is not null`
const hasFailed = `status = 'FAILED'`
const isScheduled = `workflow_step_execution_id is not null and status = 'PENDING'`

const enter = (type: string, mails: string) => `
	insert into feed_entries (project_id, type, contact_id, email_id)
	select a.project_id, '${type}', a.contact_id, a.id from ${mails};`

const workflow = `jsonb_strip_nulls(jsonb_build_object('workflowId', x.automation_id,
	'workflowName', a.name, 'executionId', x.id, 'eventName', x.event->'name'))`
const campaign = `jsonb_strip_nulls(jsonb_build_object('campaignId', new.id, 'campaignName', new.name,
	'subject', new.subject, 'totalRecipients', new.total_recipients,
	'scheduledFor', to_char(new.scheduled_for at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`

/** The feed, and what became of mails by quarters of an hour. */
export class Migration20261121123247 extends Migration {
	override name = 'Migration20261121123247'

	override up() {
		this.addSql(`create table "mail_tallies" ("project_id" uuid not null, "id" uuid not null default uuidv7(), "slot" timestamptz(3) not null, ${names.map((name) => `"${name}" int not null default 0`).join(', ')}, primary key ("project_id", "id"))`)
		this.addSql(`create table "mail_counts" ("project_id" uuid not null, "slot" timestamptz(3) not null, ${names.map((name) => `"${name}" int not null default 0`).join(', ')}, primary key ("project_id", "slot"))`)
		this.addSql(`create table "feed_entries" ("project_id" uuid not null, "type" text not null, "at" timestamptz(3) not null default now(), "id" uuid not null default uuidv7(), "contact_id" uuid null, "email_id" uuid null, "metadata" jsonb not null default '{}', primary key ("project_id", "type", "at", "id"))`)
		this.addSql(`alter table "feed_entries" add constraint "feed_entries_type_check" check ("type" in ('email.failed', 'campaign.sent', 'campaign.scheduled', 'workflow.started', 'workflow.completed', 'workflow.email.scheduled'))`)
		this.addSql(`create index "feed_entries_contact" on "feed_entries" ("project_id", "contact_id", "type", "at", "id") where contact_id is not null`)
		for (const table of ['mail_tallies', 'mail_counts', 'feed_entries'])
			this.addSql(`alter table "${table}" add constraint "${table}_project" foreign key ("project_id") references "projects" ("id") on delete cascade`)
		this.addSql(`alter table "feed_entries" add constraint "feed_entries_contact" foreign key ("project_id", "contact_id") references "contacts" ("project_id", "id") on delete set null ("contact_id")`)
		this.addSql(`alter table "mail_tallies" set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`)
		this.addSql(`alter table "mail_counts" set (fillfactor = 50)`)

		// The mails' own events are many, and come by their name in the order of time; all others, of
		// whatever name, come in that order here.
		this.addSql(`create index "events_triggered" on "events" ("project_id", "created_at", "id") where name not like 'email.%' and name not in ('contact.subscribed', 'contact.unsubscribed')`)
		this.addSql(`create index "executions_upcoming" on "executions" ("project_id", coalesce("wakes_at", "started_at"), "id") where status in ('RUNNING', 'WAITING')`)

		this.addSql(`insert into mail_counts (project_id, slot, ${columns}) ${countsOf([1, 'emails'])}`)
		this.addSql(`insert into feed_entries (project_id, type, at, contact_id, email_id)
			select project_id, 'email.failed', updated_at, contact_id, id from emails where status = 'FAILED'
			union all
			select project_id, 'workflow.email.scheduled', created_at, contact_id, id from emails
			where workflow_step_execution_id is not null and (status <> 'FAILED' or attempt > 0)`)
		this.addSql(`insert into feed_entries (project_id, type, at, metadata)
			select project_id, 'campaign.sent', sent_at, ${campaign} from campaigns new where sent_at is not null
			union all
			select project_id, 'campaign.scheduled', updated_at, ${campaign} from campaigns new where status = 'SCHEDULED'`)
		this.addSql(`insert into feed_entries (project_id, type, at, contact_id, metadata)
			select x.project_id, type, at, x.contact_id, ${workflow}
			from executions x join automations a on a.project_id = x.project_id and a.id = x.automation_id
			cross join lateral (values ('workflow.started', x.started_at),
				('workflow.completed', case when x.status in ('COMPLETED', 'EXITED') then x.completed_at end)
			) entry (type, at) where at is not null`)

		// As with the counts of events: one folder at a time, and nobody waits for it.
		this.addSql(`create function fold_mail_tallies(project uuid) returns void language plpgsql as $$
			begin
				if not pg_try_advisory_xact_lock(hashtextextended('mail tallies of ' || project, 0)) then
					return;
				end if;
				with gone as (
					delete from mail_tallies where project_id = project and id in (
						select id from mail_tallies where project_id = project order by id limit 2000
						for update skip locked)
					returning *
				)
				insert into mail_counts as c (project_id, slot, ${columns})
				select project, slot, ${names.map((name) => `sum(${name})`).join(', ')}
				from gone group by slot order by slot
				on conflict (project_id, slot) do update
					set ${names.map((name) => `${name} = c.${name} + excluded.${name}`).join(', ')};
			end $$`)
		// Most statements are about mails that nothing has happened to yet: they pay for a look at them.
		this.addSql(`create function note_new_mails() returns trigger language plpgsql as $$
			begin
				if ${has('added', `${hasHappened} or ${hasFailed} or ${isScheduled}`)} then
					${tally([1, 'added'])}
					${enter('email.failed', `added a where ${hasFailed}`)}
					${enter('workflow.email.scheduled', `added a where ${isScheduled}`)}
				end if;
				return null;
			end $$`)
		this.addSql(`create function note_changed_mails() returns trigger language plpgsql as $$
			declare
				noted int;
			begin
				if ${has('added', `${hasHappened} or ${hasFailed}`)} or ${has('removed', hasHappened)} then
					${tally([1, 'added'], [-1, 'removed'])}
					get diagnostics noted = row_count;
					if noted > 0 and random() < 1.0 / 256 then
						perform fold_mail_tallies(project_id) from (select distinct project_id from added) touched;
					end if;
					if ${has('added', hasFailed)} then
						${enter('email.failed', `added a where ${hasFailed} and not exists (
							select from removed r where r.project_id = a.project_id and r.id = a.id and r.${hasFailed})`)}
					end if;
				end if;
				return null;
			end $$`)
		this.addSql(`create trigger emails_noted after insert on emails
			referencing new table as added for each statement execute function note_new_mails()`)
		this.addSql(`create trigger emails_noted_changed after update on emails
			referencing old table as removed new table as added for each statement execute function note_changed_mails()`)

		this.addSql(`create function note_campaign() returns trigger language plpgsql as $$
			begin
				insert into feed_entries (project_id, type, metadata)
				values (new.project_id, case new.status when 'SENT' then 'campaign.sent' else 'campaign.scheduled' end,
					${campaign});
				return null;
			end $$`)
		this.addSql(`create trigger campaigns_noted after update on campaigns for each row when (
			new.status = 'SENT' and old.status <> 'SENT'
			or new.status = 'SCHEDULED' and (old.status, old.scheduled_for) is distinct from (new.status, new.scheduled_for))
			execute function note_campaign()`)

		this.addSql(`create function note_begun_executions() returns trigger language plpgsql as $$
			begin
				insert into feed_entries (project_id, type, at, contact_id, metadata)
				select x.project_id, 'workflow.started', x.started_at, x.contact_id, ${workflow}
				from added x join automations a on a.project_id = x.project_id and a.id = x.automation_id;
				return null;
			end $$`)
		this.addSql(`create trigger executions_noted after insert on executions
			referencing new table as added for each statement execute function note_begun_executions()`)
		this.addSql(`create function note_completed_execution() returns trigger language plpgsql as $$
			begin
				insert into feed_entries (project_id, type, at, contact_id, metadata)
				select x.project_id, 'workflow.completed', x.completed_at, x.contact_id,
					${workflow} || jsonb_strip_nulls(jsonb_build_object('status', x.status, 'exitReason', x.exit_reason))
				from (select new.*) x join automations a on a.project_id = x.project_id and a.id = x.automation_id;
				return null;
			end $$`)
		this.addSql(`create trigger executions_noted_completed after update on executions for each row when (
			new.status in ('COMPLETED', 'EXITED') and old.status in ('RUNNING', 'WAITING'))
			execute function note_completed_execution()`)
	}
}
