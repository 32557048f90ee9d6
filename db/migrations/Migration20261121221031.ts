import { Migration } from '@mikro-orm/migrations'

const missing = (constraint: string) => `
	raise foreign_key_violation using table = tg_table_name, constraint = ${constraint},
		message = format('insert into %I breaks %I: what it refers to does not exist', tg_table_name, ${constraint})`

/**
 * As before, but that mails are looked up one by one, too: while a ledger is new and has no statistics,
 * the planner took it for empty and read all of it for each event.
 */
export class Migration20261121221031 extends Migration {
	override name = 'Migration20261121221031'

	override up() {
		this.addSql(`create or replace function events_have_contacts() returns trigger language plpgsql as $$
			declare
				projects uuid[];
				wanted int;
				found int;
			begin
				select count(contact_id) into wanted from added;
				perform from (
					select project_id, contact_id from added where contact_id is not null order by 1, 2) a
				cross join lateral (
					select from contacts c where c.project_id = a.project_id and c.id = a.contact_id for key share) c;
				get diagnostics found = row_count;
				if found < wanted then ${missing(`tg_table_name || '_contact'`)}; end if;
				select array_agg(distinct project_id) filter (where contact_id is null) into projects from added;
				if projects is not null then
					perform from projects p where p.id = any(projects) for key share;
					get diagnostics found = row_count;
					if found < cardinality(projects) then ${missing(`tg_table_name || '_project'`)}; end if;
				end if;
				select count(email_id) into wanted from added;
				if wanted > 0 then
					perform from added a cross join lateral (
						select from emails e where e.project_id = a.project_id and e.id = a.email_id offset 0) e
					where a.email_id is not null;
					get diagnostics found = row_count;
					if found < wanted then ${missing(`'events_email'`)}; end if;
				end if;
				return null;
			end $$`)
	}
}
