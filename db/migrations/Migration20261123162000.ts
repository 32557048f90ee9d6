import { Migration } from '@mikro-orm/migrations'

/**
 * Mails, attempts and events are kept in one table per month: see db/partitions.ts. Today's tables become the
 * first partitions of new tables with their names, triggers and references, and no row is read or written.
 * Processes of the release before go on with the new tables.
 *
 * The columns of the new tables are in an order in which little room is lost to alignment.
 */
export class Migration20261123162000 extends Migration {
	override name = 'Migration20261123162000'

	override up() {
		this.addSql(lockAll)
		// Two contacts of one campaign have two places in its audience's pages; a step's mail has the step's id.
		this.addSql('drop index emails_campaign, emails_step_execution')
		// With such a reference, Postgres would look for referring rows before it removed a table of mails.
		this.addSql('alter table attempts drop constraint attempts_email')
		this.addSql('alter table events drop constraint events_email')
		this.addSql(partition('emails', 'id'))
		this.addSql(partition('attempts', 'email_id', false))
		this.addSql(partition('events', 'id'))
		// Functions whose bodies were read when they were made still mean today's tables.
		this.addSql('delete from rule_files')
	}
}

/** All or none, so that no one waits for us while we wait for them. */
const lockAll = `do $$ begin
	loop
		begin
			set local lock_timeout = '500ms';
			lock table emails, attempts, events in access exclusive mode;
			lock table projects, campaigns, contacts, templates in share row exclusive mode;
			set local lock_timeout = 0;
			return;
		exception when lock_not_available or deadlock_detected then
			perform pg_sleep(0.2);
		end;
	end loop;
end $$`

const partition = (table: string, id: string, hasContacts = true) => `do $$
declare
	bound text := (select substring(pg_get_constraintdef(oid) from '''([-0-9a-f]{36})''')
		from pg_constraint where conname = '${table}_bound');
	month text := to_char(to_timestamp(('x' || left(replace(bound, '-', ''), 12))::bit(48)::bigint / 1000.0)
		at time zone 'UTC', 'YYYY_MM');
	first_one text := '${table}_before_' || month;
	triggers text[] := array(select pg_get_triggerdef(oid) from pg_trigger
		where tgrelid = '${table}'::regclass and not tgisinternal order by tgname);
	indexes text[] := array(select pg_get_indexdef(indexrelid) from pg_index
		where indrelid = '${table}'::regclass and not indisprimary);
	options text := (select array_to_string(reloptions, ', ') from pg_class where oid = '${table}'::regclass);
	described text;
	is_empty bool;
	one text;
begin
	select string_agg(format('%I %s', a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
			case when a.attgenerated = 's' then format('generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
				when d.oid is not null then 'default ' || pg_get_expr(d.adbin, d.adrelid) end,
			case when a.attnotnull then format('constraint %I not null', '${table}_' || a.attname || '_not_null') end)), ', '
		order by case when a.attlen < 0 then 3 when a.attnotnull then 0 when a.attalign = 'd' then 1 else 2 end,
			array_position('{d,i,s,c}', a.attalign::text), a.attlen, a.attnum)
	into described
	from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
	where a.attrelid = '${table}'::regclass and a.attnum > 0 and not a.attisdropped;
	select concat_ws(', ', described, string_agg(
		format('constraint %I %s', conname, pg_get_constraintdef(oid)), ', ' order by conname))
	into described
	from pg_constraint where conrelid = '${table}'::regclass and contype in ('c', 'f') and conname <> '${table}_bound';

	for one in select tgname from pg_trigger where tgrelid = '${table}'::regclass and not tgisinternal loop
		execute format('drop trigger %I on ${table}', one);
	end loop;
	execute format('alter table ${table} rename to %I', first_one);
	for one in select indexrelid::regclass from pg_index where indrelid = first_one::regclass loop
		execute format('alter index %I rename to %I', one, one || '_before_' || month);
	end loop;

	execute format('create table ${table} (%s) partition by range (${id})', described);
	execute format('alter table ${table} add primary key (%s)', (
		select string_agg(attname, ', ' order by array_position(indkey::int2[], attnum))
		from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
		where indrelid = first_one::regclass and indisprimary));
	foreach one in array indexes loop
		execute one;
	end loop;
	${hasContacts ? `alter table ${table} alter column contact_id set (n_distinct_inherited = -0.2);` : ''}
	-- An empty table has no reason to keep the old order of columns.
	execute format('select not exists (select from %I)', first_one) into is_empty;
	if is_empty then
		execute format('drop table %I', first_one);
		execute format('create table %I (like ${table} including defaults including constraints including generated
			including storage)', first_one);
		if options is not null then
			execute format('alter table %I set (%s)', first_one, options);
		end if;
		${hasContacts ? `execute format('alter table %I alter column contact_id set (n_distinct = -0.2)', first_one);` : ''}
	end if;
	execute format('alter table ${table} attach partition %I for values from (minvalue) to (%L)', first_one, bound);
	execute format('alter table %I drop constraint if exists ${table}_bound', first_one);
	foreach one in array triggers loop
		execute one;
	end loop;
end $$`
