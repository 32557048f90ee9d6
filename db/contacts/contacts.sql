create or replace function require_projects_of_contacts() returns trigger language plpgsql as $$
begin
	-- Such a statement also writes a queued send, which refers to the project.
	if is_counted() then
		return null;
	end if;
	perform require_projects((select array_agg(distinct project_id) from added), 'contacts');
	return null;
end $$;

create or replace trigger contacts_check_references after insert on contacts
	referencing new table as added
	for each statement execute function require_projects_of_contacts();

-- A transaction that adds many contacts to a segment holds this lock alone, so that it need not lock each contact: that
-- would write every page of the table. Deletions share the lock.
create or replace function deletions_of_contacts(project uuid) returns bigint
language sql immutable parallel safe
return hashtextextended('deletions of contacts of ' || project, 0);

-- Mails and events outlive their contact, and so does its address while a campaign may still write its mail;
-- memberships of segments don't. Each is looked up by its contact alone, who is of the project: the planner has one
-- index to choose, whatever it estimates for a table without statistics.
create or replace function detach_deleted_contacts() returns trigger language plpgsql
	set enable_hashjoin to off
	set enable_mergejoin to off
	set enable_seqscan to off
as $$
begin
	-- Waits for transactions that hold this lock, so that the statements below find what they have added.
	perform pg_advisory_xact_lock_shared(deletions_of_contacts(project_id))
	from (select distinct project_id from removed order by 1) r;
	-- Mails before events: see require_references_of_events.
	update emails e set contact_id = null from removed r
	where e.contact_id = r.id;
	update events e set contact_id = null from removed r
	where e.contact_id = r.id;
	delete from segment_members m using removed r
	where m.contact_id = r.id;
	insert into removed_contacts (project_id, id, email)
	select project_id, id, email from removed
	where project_id in (
		select project_id from (select distinct project_id from removed) p where has_mails_to_come(project_id));
	return null;
end $$;

create or replace trigger contacts_detach_deleted after delete on contacts
	referencing old table as removed
	for each statement execute function detach_deleted_contacts();
