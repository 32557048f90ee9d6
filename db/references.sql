-- Emails, events, contacts and segment members are inserted by the thousand. Postgres checks a foreign key
-- row by row, which was half the cost of an event. Their triggers check references once per statement
-- instead, with the same locks and the same error. Their foreign keys are NOT ENFORCED: they describe the
-- table. Such a column only ever changes to null. Tallies need no check: the mails or events that they count have their
-- project.

-- Raises the error that an enforced foreign key would raise.
create or replace function raise_missing_reference(from_table text, broken_constraint text) returns void
language plpgsql as $$
begin
	raise foreign_key_violation using table = from_table, constraint = broken_constraint,
		message = format('insert into %I violates %I: the row it refers to does not exist', from_table, broken_constraint);
end $$;

-- Locks the projects that new rows refer to, so that none is deleted before the rows are committed.
create or replace function require_projects(ids uuid[], from_table text) returns void
language plpgsql as $$
declare
	found_projects int;
begin
	if ids is null then
		return;
	end if;
	perform from projects p where p.id = any(ids) for key share;
	get diagnostics found_projects = row_count;
	if found_projects < cardinality(ids) then
		perform raise_missing_reference(from_table, from_table || '_project');
	end if;
end $$;
