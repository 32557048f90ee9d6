-- Such a mail may still be sent, or it is unknown whether it was.
create or replace function is_unsettled(status text) returns bool
language sql immutable parallel safe
return status in ('SCHEDULED', 'PENDING', 'SENDING', 'UNCERTAIN');

-- The bounds of some mails' ids: a statement about these mails then opens only the months in between. Functions that
-- the planner can't look into, because it would otherwise make a new plan for every list of ids.
create or replace function first_of(ids uuid[]) returns uuid language plpgsql stable parallel safe as $$
begin
	return (array_sort(ids))[1];
end $$;

create or replace function last_of(ids uuid[]) returns uuid language plpgsql stable parallel safe as $$
begin
	return (array_sort(ids, true))[1];
end $$;

-- Rows are looked up by index, although a connection keeps the plan it made when the tables were small.
create or replace function require_references_of_emails() returns trigger language plpgsql
	set enable_seqscan to off
as $$
declare
	wanted int;
	found_rows int;
begin
	-- A template may be deleted later, and the mail still says which it was. So its row, which
	-- many mails share, is not locked.
	if exists (
		select from added a where a.template_id is not null and not exists (
			select from templates t where t.project_id = a.project_id and t.id = a.template_id)) then
		perform raise_missing_reference('emails', 'emails_template');
	end if;
	-- Such a statement has locked the contacts.
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
		perform raise_missing_reference('emails', 'emails_contact');
	end if;
	-- A contact that exists proves that its project exists.
	perform require_projects(
		(select array_agg(distinct project_id) filter (where contact_id is null) from added), 'emails');
	return null;
end $$;

create or replace trigger emails_check_references after insert on emails
	referencing new table as added
	for each statement execute function require_references_of_emails();

-- The address of a mail whose contact was erased: erasedAddress of db/emails/email.ts.
create or replace function erased_address() returns text
language sql immutable parallel safe
return 'deleted@deleted.invalid';

-- Where a mail comes from. A campaign's mail leaves that to its campaign, too.
create or replace function source_of_mail(source_type text) returns text
language sql immutable parallel safe
return coalesce(source_type, 'CAMPAIGN');

-- The content that a mail leaves to its campaign (db/emails/email.ts); no row for a mail with a sender of its own. Each
-- mail's campaign is looked up by index, whatever the planner assumes about new tables.
create or replace function left_to_campaign(project uuid, campaign uuid, own_sender text)
returns table ("from" text, from_name text, reply_to text, subject text, content_language text, language text,
	type text, template_id uuid)
language sql stable parallel safe
as $$
	select k."from", coalesce(nullif(k.from_name, ''), k.project_name), k.reply_to, k.subject, k.content_language, k.language,
		k.type, k.template_id
	from campaigns k where k.project_id = project and k.id = campaign and own_sender is null offset 0
$$;

-- What the events of a mail say about it.
create or replace function mail_event_data(id uuid, subject text, "from" text, from_name text, template_id uuid,
	campaign_id uuid, source_type text, sent_at timestamptz)
returns jsonb
language sql stable parallel safe
return jsonb_build_object('subject', subject, 'from', "from", 'fromName', from_name,
	'messageId', '<' || id || '@' || split_part("from", '@', 2) || '>', 'emailId', id,
	'templateId', template_id, 'campaignId', campaign_id, 'sourceType', source_of_mail(source_type), 'sentAt', iso_text(sent_at));

-- The same for a mail that may leave some of it to its campaign.
create or replace function event_data_of_mail(project uuid, id uuid, subject text, "from" text, from_name text, template_id uuid,
	campaign_id uuid, source_type text, sent_at timestamptz)
returns jsonb
language sql stable parallel safe
return case
	when "from" is not null then mail_event_data(id, subject, "from", from_name, template_id, campaign_id, source_type, sent_at)
	else (
		select mail_event_data(event_data_of_mail.id, coalesce(event_data_of_mail.subject, k.subject), k."from", k.from_name,
			k.template_id, campaign_id, source_type, sent_at)
		from left_to_campaign(project, campaign_id, event_data_of_mail."from") k)
	end;

-- How many tries of a mail may have arrived, without those that Resend recognises as repeats: it forgets a key at
-- `forgets_at`. A function, because hardly any mail has such tries: with a subquery in its place, each statement would
-- prepare a look at every month's attempts for every month's mails.
create or replace function tries_in_doubt(project uuid, mail uuid, forgets_at timestamptz) returns int
language plpgsql stable as $$
begin
	return (
		select count(*) from attempts a
		where a.project_id = project and a.email_id = mail and a.outcome = 'UNKNOWN'
			and (a.provider is distinct from 'resend' or a.at > forgets_at));
end $$;

-- Whether a try since then may have arrived.
create or replace function is_in_doubt_since(project uuid, mail uuid, since timestamptz) returns bool
language plpgsql stable as $$
begin
	return exists (
		select from attempts a
		where a.project_id = project and a.email_id = mail and a.outcome = 'UNKNOWN' and a.at >= since);
end $$;

-- The copies of a mail at its first attempt. Those to suppressed addresses get the reason, and are left out at every
-- try, so that each try sends the same message.
create or replace function copies_to_send(project uuid, copies jsonb) returns jsonb language plpgsql stable as $$
begin
	return (
		select coalesce(jsonb_agg(case when s.reason is null then copy
			else copy || jsonb_build_object('error', 'The address is on the suppression list: ' || s.reason) end order by place), '[]')
		from jsonb_array_elements(copies) with ordinality as given(copy, place)
		left join suppressions s on s.project_id = project and s.email = copy->>'email');
end $$;

-- The copies of a mail that has left, with the answers to those that were refused, by address.
create or replace function copies_after_refusals(copies jsonb, refusals jsonb) returns jsonb
language sql immutable parallel safe
return (
	select coalesce(jsonb_agg(case when refusals ? (copy->>'email')
		then copy || jsonb_build_object('error', refusals->(copy->>'email')) else copy end order by place), '[]')
	from jsonb_array_elements(copies) with ordinality as given(copy, place));

-- The place of an address among the copies of a mail. Null: the mail has no copy for it.
create or replace function place_of_copy(copies jsonb, address text) returns int
language sql immutable parallel safe
return (
	select place::int - 1 from jsonb_array_elements(copies) with ordinality as given(copy, place)
	where copy->>'email' = address);

-- The copies of a mail, with what was reported about one of them.
create or replace function copies_after_report(copies jsonb, address text, report jsonb) returns jsonb
language sql immutable parallel safe
return (
	select coalesce(jsonb_agg(case when copy->>'email' = address then copy || report else copy end order by place), '[]')
	from jsonb_array_elements(copies) with ordinality as given(copy, place));
