import { Migration } from '@mikro-orm/migrations'

/** Segments, their stored members, and how conditions read dates. */
export class Migration20261121053500 extends Migration {
	override name = 'Migration20261121053500'

	override up() {
		this.addSql(`create table "segments" ("id" uuid not null default uuidv7(), "project_id" uuid not null, "name" text not null, "description" text null, "type" text not null default 'DYNAMIC', "condition" jsonb null, "track_membership" boolean not null default false, "member_count" int not null default 0, "computed_until" timestamptz(3) null, "computed_fully_at" timestamptz(3) null, "sweep_at" timestamptz(3) null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`alter table "segments" add constraint "segments_type_check" check ("type" in ('DYNAMIC', 'STATIC'))`)
		this.addSql(`alter table "segments" add constraint "segments_project_id_id_unique" unique ("project_id", "id")`)
		this.addSql(`create index "segments_due" on "segments" ("sweep_at", "id") where sweep_at is not null`)
		this.addSql(`create table "segment_members" ("project_id" uuid not null, "segment_id" uuid not null, "contact_id" uuid not null, "computed" boolean not null, "created_at" timestamptz(3) not null default now(), primary key ("project_id", "segment_id", "contact_id"))`)
		this.addSql(`create index "segment_members_contact" on "segment_members" ("project_id", "contact_id", "segment_id")`)
		this.addSql(`create index "segment_members_newest" on "segment_members" ("project_id", "segment_id", "created_at", "contact_id") where not computed`)
		this.addSql(`create table "segment_tallies" ("project_id" uuid not null, "segment_id" uuid not null, "id" uuid not null default uuidv7(), "change" int not null, primary key ("project_id", "segment_id", "id"))`)
		this.addSql(`alter table "segment_tallies" set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`)

		// Who was written since a moment: the last write on each two pages, which costs updates little and
		// leaves them heap-only, as no other kind of index would.
		this.addSql(`create index "contacts_written" on "contacts" using brin ("updated_at") with (pages_per_range = 2, autosummarize = on)`)

		// A member's project is its segment's, and it goes with that: asking once more for each of hundreds
		// of thousands would be a fifth of the work of a compute.
		for (const [table, enforced] of [['segments', ''], ['segment_members', 'not enforced'], ['segment_tallies', '']])
			this.addSql(
				`alter table "${table}" add constraint "${table}_project" foreign key ("project_id") references "projects" ("id") on delete cascade ${enforced}`,
			)
		for (const table of ['segment_members', 'segment_tallies'])
			this.addSql(
				`alter table "${table}" add constraint "${table}_segment" foreign key ("project_id", "segment_id") references "segments" ("project_id", "id") on delete cascade`,
			)
		this.addSql(`alter table "segment_members" add constraint "segment_members_contact" foreign key ("project_id", "contact_id") references "contacts" ("project_id", "id") on delete cascade`)

		// A segment or project that is going itself takes its count with it, and who computes a segment
		// counts its members when it is done.
		this.addSql(`create function tally_segment_members() returns trigger language plpgsql as $$
			begin
				if current_setting('tempost.computing', true) = 'on' then
					return null;
				end if;
				insert into segment_tallies (project_id, segment_id, change)
				select project_id, segment_id, case when tg_op = 'INSERT' then count(*) else -count(*) end
				from touched t
				where exists (select from segments s where s.project_id = t.project_id and s.id = t.segment_id)
					and exists (select from projects p where p.id = t.project_id)
				group by project_id, segment_id;
				return null;
			end $$`)
		this.addSql(`create trigger segment_members_came after insert on segment_members
			referencing new table as touched for each statement execute function tally_segment_members()`)
		this.addSql(`create trigger segment_members_went after delete on segment_members
			referencing old table as touched for each statement execute function tally_segment_members()`)

		// Dates in custom data, as db/iso-time.ts reads them too. What follows the pattern has a time zone
		// in it, so that the cast depends on no setting; whether the day exists is asked before it.
		this.addSql(String.raw`create function iso_time(t text) returns timestamptz stable parallel safe language sql return
			case
				when t !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[+-](0[0-9]|1[0-4]):?[0-5][0-9])?)?$' then null
				when t ~ '^.{10}$' then case when pg_input_is_valid(t || 'T00:00:00Z', 'timestamptz') then (t || 'T00:00:00Z')::timestamptz end
				when t ~ 'T[^Z+-]*$' then case when pg_input_is_valid(t || 'Z', 'timestamptz') then (t || 'Z')::timestamptz end
				when pg_input_is_valid(t, 'timestamptz') then t::timestamptz
			end`)
	}
}
