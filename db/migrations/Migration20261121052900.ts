import { Migration } from '@mikro-orm/migrations'

export class Migration20261121052900 extends Migration {
	override name = 'Migration20261121052900'

	override up() {
		this.addSql(`alter table "events" drop constraint "events_pkey", add primary key ("project_id", "id")`)
		this.addSql(`create index "events_name" on "events" ("project_id", "name", "created_at", "contact_id")`)

		this.addSql(`create table "event_tallies" ("project_id" uuid not null, "id" uuid not null default uuidv7(), "name" text not null, "day" date not null, "count" bigint not null, primary key ("project_id", "id"))`)
		this.addSql(`create table "event_counts" ("project_id" uuid not null, "name" text not null, "day" date not null, "count" bigint not null, primary key ("project_id", "name", "day"))`)
		for (const table of ['event_tallies', 'event_counts'])
			this.addSql(
				`alter table "${table}" add constraint "${table}_project" foreign key ("project_id") references "projects" ("id") on delete cascade`,
			)
		this.addSql(`alter table "event_tallies" set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`)
		this.addSql(`insert into event_counts (project_id, name, day, count)
			select project_id, name, (created_at at time zone 'UTC')::date, count(*) from events group by 1, 2, 3`)

		// One folder at a time in a project; who finds another at work leaves it to them. Nobody ever
		// waits here: not for a lock, and not for more rows than a page or two holds.
		this.addSql(`create function fold_event_tallies(project uuid) returns void language plpgsql as $$
			begin
				if not pg_try_advisory_xact_lock(hashtextextended('event tallies of ' || project, 0)) then
					return;
				end if;
				with gone as (
					delete from event_tallies where project_id = project and id in (
						select id from event_tallies where project_id = project order by id limit 2000
						for update skip locked)
					returning name, day, count
				)
				insert into event_counts as c (project_id, name, day, count)
				select project, name, day, sum(count) from gone group by name, day order by name, day
				on conflict (project_id, name, day) do update set count = c.count + excluded.count;
			end $$`)
		this.addSql(`create function tally_events() returns trigger language plpgsql as $$
			begin
				insert into event_tallies (project_id, name, day, count)
				select project_id, name, (created_at at time zone 'UTC')::date, count(*) from added group by 1, 2, 3;
				if random() < 1.0 / 256 then
					perform fold_event_tallies(project_id) from (select distinct project_id from added) touched;
				end if;
				return null;
			end $$`)
		// Of a project that is going itself nothing is to be counted.
		this.addSql(`create function untally_events() returns trigger language plpgsql as $$
			begin
				insert into event_tallies (project_id, name, day, count)
				select project_id, name, (created_at at time zone 'UTC')::date, -count(*) from removed
				where exists (select from projects p where p.id = removed.project_id) group by 1, 2, 3;
				return null;
			end $$`)
		this.addSql(`create trigger events_tallied after insert on events
			referencing new table as added for each statement execute function tally_events()`)
		this.addSql(`create trigger events_untallied after delete on events
			referencing old table as removed for each statement execute function untally_events()`)
	}
}
