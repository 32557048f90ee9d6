-- Rows are looked up by index, although a connection keeps the plan it made when the tables were small.
create or replace function require_references_of_segment_members() returns trigger language plpgsql
	set enable_seqscan to off
as $$
declare
	wanted int;
	found_rows int;
begin
	-- A compute has locked its segment, and kept contacts from being deleted.
	if is_counted() then
		return null;
	end if;
	-- Contacts are locked in order of ids, as everywhere.
	select count(contact_id) into wanted from added;
	perform from (
		select project_id, contact_id from added order by 1, 2) a
	cross join lateral (
		select from contacts c where c.project_id = a.project_id and c.id = a.contact_id for key share) c;
	get diagnostics found_rows = row_count;
	if found_rows < wanted then
		perform raise_missing_reference('segment_members', 'segment_members_contact');
	end if;

	select count(distinct segment_id) into wanted from added;
	perform from segments s where (s.project_id, s.id) in (select project_id, segment_id from added) for key share;
	get diagnostics found_rows = row_count;
	if found_rows < wanted then
		perform raise_missing_reference('segment_members', 'segment_members_segment');
	end if;
	return null;
end $$;

create or replace trigger segment_members_check_references after insert on segment_members
	referencing new table as added
	for each statement execute function require_references_of_segment_members();

-- A segment may have millions of members, so housekeeping deletes them: db/segments/removed-segment.ts. Those of a
-- project are deleted with it.
create or replace function delete_members_of_segments() returns trigger language plpgsql as $$
begin
	insert into removed_segments (project_id, id)
	select r.project_id, r.id from removed r where exists (select from projects p where p.id = r.project_id);
	return null;
end $$;

create or replace trigger segments_delete_members after delete on segments
	referencing old table as removed
	for each statement execute function delete_members_of_segments();

-- Counts members as they are added and removed. A compute counts the members at its end; one of the previous release
-- says so by `tempost.computing`. A segment or project that is being deleted needs no count.
create or replace function tally_segment_members() returns trigger language plpgsql as $$
begin
	if is_counted() or current_setting('tempost.computing', true) = 'on' then
		return null;
	end if;
	insert into segment_tallies (project_id, segment_id, change)
	select project_id, segment_id, case when tg_op = 'INSERT' then count(*) else -count(*) end
	from touched t
	where exists (select from segments s where s.project_id = t.project_id and s.id = t.segment_id)
		and exists (select from projects p where p.id = t.project_id)
	group by project_id, segment_id;
	return null;
end $$;

create or replace trigger segment_members_tallied after insert on segment_members
	referencing new table as touched
	for each statement execute function tally_segment_members();

create or replace trigger segment_members_tallied_deleted after delete on segment_members
	referencing old table as touched
	for each statement execute function tally_segment_members();
