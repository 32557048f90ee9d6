import { Migration } from '@mikro-orm/migrations'

const platform = `'00000000-0000-7000-8000-000000000000'`
const isPermanent = `name = 'email.bounce' and data->>'bounceType' = 'Permanent'`
const isBlame = `(name = 'email.complaint' or ${isPermanent}) and project_id <> ${platform}`
const tables = ['suspensions', 'reputation_tallies', 'reputation_counts']

/** What providers report, and what follows for addresses and for projects. */
export class Migration20261121115841 extends Migration {
	override name = 'Migration20261121115841'

	override up() {
		this.addSql(`create table "provider_events" ("id" text not null, "received_at" timestamptz(3) not null default now(), "evidence" jsonb null, primary key ("id"))`)
		this.addSql(`create index "provider_events_received_at_index" on "provider_events" ("received_at")`)
		this.addSql(`create index "provider_events_unmatched" on "provider_events" ("received_at") where evidence is not null`)
		this.addSql(`create index "attempts_provider_message" on "attempts" ("provider_message_id") where provider = 'resend'`)

		this.addSql(`create table "suspensions" ("project_id" uuid not null, "id" uuid not null default uuidv7(), "at" timestamptz(3) not null default now(), "reason" text not null, "signal" text null, "lifted_at" timestamptz(3) null, "told_at" timestamptz(3) null, primary key ("project_id", "id"))`)
		this.addSql(`alter table "suspensions" add constraint "suspensions_reason_check" check ("reason" in ('PAYMENT_FAILED', 'EMAIL_REPUTATION', 'MANUAL'))`)
		this.addSql(`alter table "suspensions" add constraint "suspensions_signal_check" check ("signal" in ('bounces', 'complaints'))`)
		this.addSql(`create table "reputation_tallies" ("project_id" uuid not null, "id" uuid not null default uuidv7(), "hour" timestamptz(3) not null, "total" bigint not null, "bounces" bigint not null, "complaints" bigint not null, primary key ("project_id", "id"))`)
		this.addSql(`create table "reputation_counts" ("project_id" uuid not null, "hour" timestamptz(3) not null, "total" bigint not null, "bounces" bigint not null, "complaints" bigint not null, primary key ("project_id", "hour"))`)
		for (const table of tables)
			this.addSql(
				`alter table "${table}" add constraint "${table}_project" foreign key ("project_id") references "projects" ("id") on delete cascade`,
			)
		this.addSql(`alter table "reputation_tallies" set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`)
		this.addSql(`insert into reputation_counts (project_id, hour, total, bounces, complaints)
			select project_id, date_trunc('hour', created_at, 'UTC'), count(*), 0, 0
			from events where name = 'email.sent' and project_id <> ${platform} group by 1, 2`)

		// As with the counts of events: one folder at a time, and nobody waits for it. What is older than
		// any window that moves becomes one row a day.
		this.addSql(`create function fold_reputation(project uuid) returns void language plpgsql as $$
			declare oldest timestamptz := date_trunc('day', now(), 'UTC') - interval '8 days';
			begin
				if not pg_try_advisory_xact_lock(hashtextextended('reputation tallies of ' || project, 0)) then
					return;
				end if;
				with gone as (
					delete from reputation_tallies where project_id = project and id in (
						select id from reputation_tallies where project_id = project order by id limit 2000
						for update skip locked)
					returning hour, total, bounces, complaints
				)
				insert into reputation_counts as c (project_id, hour, total, bounces, complaints)
				select project, hour, sum(total), sum(bounces), sum(complaints) from gone group by hour order by hour
				on conflict (project_id, hour) do update set total = c.total + excluded.total,
					bounces = c.bounces + excluded.bounces, complaints = c.complaints + excluded.complaints;
				with gone as (
					delete from reputation_counts where project_id = project and hour < oldest
						and hour <> date_trunc('day', hour, 'UTC')
					returning hour, total, bounces, complaints
				)
				insert into reputation_counts as c (project_id, hour, total, bounces, complaints)
				select project, date_trunc('day', hour, 'UTC'), sum(total), sum(bounces), sum(complaints)
				from gone group by 2 order by 2
				on conflict (project_id, hour) do update set total = c.total + excluded.total,
					bounces = c.bounces + excluded.bounces, complaints = c.complaints + excluded.complaints;
			end $$`)

		// Windows are whole hours: the present one and those before it.
		this.addSql(`create function reputation_windows(project uuid)
			returns table (period text, total bigint, bounces bigint, complaints bigint) language sql stable as $$
				with hours as materialized (
					select hour, c.total, c.bounces, c.complaints from reputation_counts c where project_id = project
					union all
					select hour, t.total, t.bounces, t.complaints from reputation_tallies t where project_id = project
				)
				select p.period, coalesce(sum(h.total), 0)::bigint, coalesce(sum(h.bounces), 0)::bigint,
					coalesce(sum(h.complaints), 0)::bigint
				from (values ('twentyFourHour', now() - interval '24 hours'),
					('sevenDay', now() - interval '7 days'), ('allTime', '-infinity')) as p(period, since)
				left join hours h on h.hour > p.since
				group by p.period
			$$`)
		// Shares of the mails sent, where there are enough of them; and, of a young project, mere numbers.
		this.addSql(`create function reputation_findings(project uuid)
			returns table (signal text, period text, is_rate bool, value float8, warn float8, suspend float8, level text)
			language sql stable as $$
				with rule (signal, period, is_rate, warn, suspend, total_least, count_least) as (values
					('bounces', 'sevenDay', true, 0.05, 0.10, 100, 5),
					('bounces', 'allTime', true, 0.04, 0.08, 100, 10),
					('complaints', 'sevenDay', true, 0.00075, 0.0015, 100, 3),
					('complaints', 'allTime', true, 0.0003, 0.0012, 100, 5),
					('bounces', 'twentyFourHour', false, 10, 25, 0, 0),
					('bounces', 'sevenDay', false, 25, 50, 0, 0),
					('complaints', 'twentyFourHour', false, 3, 7, 0, 0),
					('complaints', 'sevenDay', false, 10, 20, 0, 0)
				), measured as (
					select r.*, w.total, n.count, case when not r.is_rate then n.count::float8
						else coalesce(n.count::float8 / nullif(w.total, 0), 0) end as value
					from reputation_windows(project) w
					join rule r on r.period = w.period
					cross join lateral (
						select case r.signal when 'bounces' then w.bounces else w.complaints end as count) n
					where r.is_rate or exists (
						select from projects p where p.id = project and p.created_at > now() - interval '30 days')
				)
				select m.signal, m.period, m.is_rate, m.value, m.warn::float8, m.suspend::float8,
					case when m.total < m.total_least or m.count < m.count_least then 'healthy'
						when m.value >= m.suspend then 'critical'
						when m.value >= m.warn then 'warning' else 'healthy' end
				from measured m
			$$`)

		this.addSql(`create function suspend_project(project uuid, why text, what text) returns void language sql as $$
			with disabled as (
				update projects set disabled_reason = why, updated_at = now()
				where id = project and disabled_reason is null returning id
			), suspended as (
				insert into suspensions (project_id, reason, signal) select id, why, what from disabled
				returning project_id, id
			)
			insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
			select project_id, 'start', 3, 'suspendProject', 'suspension/' || id, 'core',
				jsonb_build_object('projectId', project_id, 'suspensionId', id), why
			from suspended
		$$`)
		// Under a lock, so that of two bounces at the same moment one knows of the other.
		this.addSql(`create function judge_project(project uuid) returns void language plpgsql as $$
			declare what text;
			begin
				perform pg_advisory_xact_lock(hashtextextended('reputation of ' || project, 0));
				if exists (select from projects where id = project and disabled_reason is null) then
					select signal into what from reputation_findings(project) where level = 'critical' limit 1;
					if found then
						perform suspend_project(project, 'EMAIL_REPUTATION', what);
					end if;
				end if;
			end $$`)

		// Whoever inserts the event of a permanent bounce or of a complaint, and however many at once: the
		// address gets no more mail, its contact is unsubscribed, and the project's reputation is judged,
		// all in the same transaction. Our own mails suppress nobody: a new password must always arrive. Of
		// who was erased no address is known any more.
		this.addSql(`create function heed_mail_events() returns trigger language plpgsql as $$
			declare blamed uuid;
			begin
				if not exists (select from added where name in ('email.sent', 'email.bounce', 'email.complaint')) then
					return null;
				end if;

				insert into reputation_tallies (project_id, hour, total, bounces, complaints)
				select project_id, date_trunc('hour', created_at, 'UTC'),
					count(*) filter (where name = 'email.sent' or name = 'email.bounce' and data->>'sentAt' is null),
					count(*) filter (where name = 'email.bounce'), count(*) filter (where name = 'email.complaint')
				from added
				where (name in ('email.sent', 'email.complaint') or ${isPermanent}) and project_id <> ${platform}
				group by 1, 2;
				if random() < 1.0 / 256 then
					perform fold_reputation(project_id) from (select distinct project_id from added) touched;
				end if;
				if not exists (select from added where ${isBlame}) then
					return null;
				end if;

				with told as materialized (
					select distinct on (e.project_id, e."to") e.project_id, e."to" as address, e.id,
						case a.name when 'email.complaint' then 'COMPLAINT' else 'BOUNCE' end as reason
					from (select project_id, email_id, name from added where ${isBlame}) a
					join emails e on e.project_id = a.project_id and e.id = a.email_id
						and e."to" <> 'deleted@deleted.invalid'
					order by e.project_id, e."to", a.name desc
				), listed as (
					insert into suppressions (project_id, email, reason, email_id)
					select project_id, address, reason, id from told order by project_id, address
					on conflict (project_id, email) do nothing
				), subscribers as materialized (
					select c.project_id, c.id from told join contacts c
						on c.project_id = told.project_id and c.email = told.address and c.subscribed
					order by c.project_id, c.id for no key update of c
				), flipped as (
					update contacts c set subscribed = false, updated_at = now()
					from subscribers s where c.project_id = s.project_id and c.id = s.id
					returning c.project_id, c.id
				)
				insert into events (project_id, name, contact_id)
				select project_id, 'contact.unsubscribed', id from flipped;

				for blamed in select distinct project_id from added where ${isBlame} order by 1 loop
					perform judge_project(blamed);
				end loop;
				return null;
			end $$`)
		this.addSql(`create trigger events_heeded after insert on events
			referencing new table as added for each statement execute function heed_mail_events()`)
	}
}
