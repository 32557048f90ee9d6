-- Rows are looked up by index, although a connection keeps the plan it made when the tables were small.
create or replace function require_references_of_events() returns trigger language plpgsql
	set enable_seqscan to off
as $$
declare
	wanted int;
	found_rows int;
begin
	-- Such a statement takes contacts from mails that it has locked: a deletion of a contact changes the contact's mails
	-- first, and then sees these events. Or it keeps contacts from being deleted (deletions_of_contacts).
	if is_counted() then
		return null;
	end if;
	-- Contacts are locked in order of ids, as everywhere.
	select count(contact_id) into wanted from added;
	perform from (
		select project_id, contact_id from added where contact_id is not null order by 1, 2) a
	cross join lateral (
		select from contacts c where c.project_id = a.project_id and c.id = a.contact_id for key share) c;
	get diagnostics found_rows = row_count;
	if found_rows < wanted then
		perform raise_missing_reference('events', 'events_contact');
	end if;
	-- A contact that exists proves that its project exists.
	perform require_projects(
		(select array_agg(distinct project_id) filter (where contact_id is null) from added), 'events');

	-- Emails need no lock: they are deleted only with their project.
	select count(email_id) into wanted from added;
	if wanted > 0 then
		perform from added a cross join lateral (
			select from emails e where e.project_id = a.project_id and e.id = a.email_id offset 0) e
		where a.email_id is not null;
		get diagnostics found_rows = row_count;
		if found_rows < wanted then
			perform raise_missing_reference('events', 'events_email');
		end if;
	end if;
	return null;
end $$;

create or replace trigger events_check_references after insert on events
	referencing new table as added
	for each statement execute function require_references_of_events();

-- The data of an event. That a mail was sent is stored without data, because its row in the ledger has all of it. Only
-- the mail of a person who was erased has no subject.
create or replace function event_data(name text, data jsonb, project uuid, mail uuid) returns jsonb
language sql stable parallel safe
return case when name = 'email.sent' and data = '{}' then coalesce((
		select event_data_of_mail(e.project_id, e.id, e.subject, e."from", e.from_name, e.template_id, e.campaign_id, e.source_type, e.sent_at)
			- case when e.subject = '' then 'subject' else '' end
		from emails e where e.project_id = project and e.id = mail), data)
	else data end;
