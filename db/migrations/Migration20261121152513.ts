import { Migration } from '@mikro-orm/migrations'

const refused = (constraint: string) => `
	raise foreign_key_violation using table = tg_table_name, constraint = ${constraint},
		message = format('insert into %I breaks %I: what it refers to does not exist', tg_table_name, ${constraint})`

const projectsAreThere = (ids: string) => `
	select ${ids} into projects from added;
	if projects is not null then
		perform from projects p where p.id = any(projects) for key share;
		get diagnostics found = row_count;
		if found < cardinality(projects) then ${refused(`tg_table_name || '_project'`)}; end if;
	end if`

/** In the order of ids, as everybody locks contacts; by the index, whatever is guessed. */
const contactsAreThere = `
	select count(contact_id) into wanted from added;
	perform from (
		select project_id, contact_id from added where contact_id is not null order by 1, 2) a
	cross join lateral (
		select from contacts c where c.project_id = a.project_id and c.id = a.contact_id for key share) c;
	get diagnostics found = row_count;
	if found < wanted then ${refused(`tg_table_name || '_contact'`)}; end if`

const otherReferences: Record<string, string> = {
	// A mail never goes but with its project: it need not be held.
	events: `
	select count(email_id) into wanted from added;
	if wanted > 0 then
		perform from added a cross join lateral (
			select from emails e where e.project_id = a.project_id and e.id = a.email_id) e
		where a.email_id is not null;
		get diagnostics found = row_count;
		if found < wanted then ${refused(`'events_email'`)}; end if;
	end if;`,
	emails: '',
	segment_members: `
	select count(distinct segment_id) into wanted from added;
	perform from segments s where (s.project_id, s.id) in (select project_id, segment_id from added) for key share;
	get diagnostics found = row_count;
	if found < wanted then ${refused(`'segment_members_segment'`)}; end if;`,
}

/**
 * Rows that come by the thousand refer to a project and to contacts. Postgres looks a reference up row by
 * row, which was half of the cost of an event; here it is done once for all rows of a statement, with the
 * same locks and the same error, and what referred to a contact that goes lets go of it in one statement.
 * The constraints stay as what they say of the tables; nothing changes such a column but to null.
 */
export class Migration20261121152513 extends Migration {
	override name = 'Migration20261121152513'

	override up() {
		for (const constraint of [
			'contacts_project',
			'contact_field_changes_project',
			'emails_project',
			'emails_contact',
			'events_project',
			'events_contact',
			'events_email',
			'attempts_project',
			'segment_members_segment',
			'segment_members_contact',
		])
			this.addSql(
				`alter table ${constraint.replace(/_[a-z]+$/, '')} alter constraint ${constraint} not enforced`,
			)

		this.addSql(`create function contacts_have_projects() returns trigger language plpgsql as $$
			declare
				projects uuid[];
				found int;
			begin ${projectsAreThere('array_agg(distinct project_id)')};
				return null;
			end $$`)
		this.addSql(`create trigger contacts_belong after insert on contacts
			referencing new table as added for each statement execute function contacts_have_projects()`)
		// Whose contact is there, its project is.
		for (const [table, others] of Object.entries(otherReferences)) {
			this.addSql(`create function ${table}_have_contacts() returns trigger language plpgsql as $$
				declare
					projects uuid[];
					wanted int;
					found int;
				begin ${contactsAreThere};
					${projectsAreThere('array_agg(distinct project_id) filter (where contact_id is null)')};
					${others}
					return null;
				end $$`)
			this.addSql(`create trigger ${table}_belong after insert on ${table}
				referencing new table as added for each statement execute function ${table}_have_contacts()`)
		}

		this.addSql(`create function let_go_of_contacts() returns trigger language plpgsql
			set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
			begin
				update events e set contact_id = null from removed r
				where e.project_id = r.project_id and e.contact_id = r.id;
				update emails e set contact_id = null from removed r
				where e.project_id = r.project_id and e.contact_id = r.id;
				delete from segment_members m using removed r
				where m.project_id = r.project_id and m.contact_id = r.id;
				return null;
			end $$`)
		this.addSql(`create trigger contacts_let_go after delete on contacts
			referencing old table as removed for each statement execute function let_go_of_contacts()`)
		this.addSql(`create function let_go_of_segments() returns trigger language plpgsql
			set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
			begin
				delete from segment_members m using removed r
				where m.project_id = r.project_id and m.segment_id = r.id;
				return null;
			end $$`)
		this.addSql(`create trigger segments_let_go after delete on segments
			referencing old table as removed for each statement execute function let_go_of_segments()`)
		// Whoever removes a project has removed these before, but for the few that came meanwhile.
		this.addSql(`create function let_go_of_project() returns trigger language plpgsql as $$
			begin
				delete from segment_members where project_id = old.id;
				delete from events where project_id = old.id;
				delete from emails where project_id = old.id;
				delete from contacts where project_id = old.id;
				delete from contact_field_changes where project_id = old.id;
				return null;
			end $$`)
		this.addSql(`create trigger projects_let_go after delete on projects
			for each row execute function let_go_of_project()`)
	}
}
