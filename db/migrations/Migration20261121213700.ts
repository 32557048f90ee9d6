import { Migration } from '@mikro-orm/migrations'

const names = [
	'created',
	'sent',
	'delivered',
	'opened',
	'clicked',
	'bounced',
	'sent_opened',
	'sent_clicked',
]

const createdIn = (mails: string) => `
	select project_id, date_bin('15 minutes', created_at, '2000-01-01Z') as slot, count(*)::int
	from ${mails} group by 1, 2`

/** How many mails a project has is kept with what became of them: a list says it without reading them all. */
export class Migration20261121213700 extends Migration {
	override name = 'Migration20261121213700'

	override up() {
		// A mail that comes between the count of those that are there and the trigger would be in neither;
		// and first of all, as whoever writes a mail comes to its tallies after it.
		this.addSql(`lock table emails in share row exclusive mode`)
		for (const table of ['mail_tallies', 'mail_counts'])
			this.addSql(`alter table "${table}" add column "created" int not null default 0`)
		this.addSql(`create or replace function fold_mail_tallies(project uuid) returns void language plpgsql as $$
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
				insert into mail_counts as c (project_id, slot, ${names.join(', ')})
				select project, slot, ${names.map((name) => `sum(${name})`).join(', ')}
				from gone group by slot order by slot
				on conflict (project_id, slot) do update
					set ${names.map((name) => `${name} = c.${name} + excluded.${name}`).join(', ')};
			end $$`)
		this.addSql(`insert into mail_counts as c (project_id, slot, created) ${createdIn('emails')}
			on conflict (project_id, slot) do update set created = c.created + excluded.created`)
		// Many mails come to nothing more, so it is here too that their tallies are folded.
		this.addSql(`create function count_new_mails() returns trigger language plpgsql as $$
			begin
				insert into mail_tallies (project_id, slot, created) ${createdIn('added')};
				if random() < 1.0 / 256 then
					perform fold_mail_tallies(project_id) from (select distinct project_id from added) touched;
				end if;
				return null;
			end $$`)
		this.addSql(`create trigger emails_counted after insert on emails
			referencing new table as added for each statement execute function count_new_mails()`)
	}
}
