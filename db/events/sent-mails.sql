-- A mail that is sent within seconds is its own event `email.sent`: its row in the ledger has all that the event says,
-- and the mail's id is the event's. Only for a mail that is sent later is the event a row of `events`. So a mail's id
-- is at most `punctuality` older than the event, and a list in order of time needs no index on the time of sending,
-- which would make the second write of each mail more expensive.

create or replace function punctuality() returns interval
language sql immutable parallel safe
return interval '10 seconds';

-- Stable, as adding an interval to a time is: Postgres would otherwise call it for each mail, instead of putting its text
-- into the statement.
create or replace function is_punctual(mail uuid, sent_at timestamptz) returns bool
language sql stable parallel safe
return coalesce(sent_at between uuid_extract_timestamp(mail) and uuid_extract_timestamp(mail) + punctuality(), false);

-- The first of all ids that are made at a time. Times that no id can have get the first or the last id.
create or replace function first_id_at(t timestamptz) returns uuid
language sql stable parallel safe
return case when t >= '1970-01-01Z' and t < '10000-01-01Z'
	then rpad(lpad(to_hex(floor(extract(epoch from t) * 1000)::bigint), 12, '0'), 32, '0')::uuid
	when t < '1970-01-01Z' then '00000000-0000-0000-0000-000000000000'::uuid
	else 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid end;

-- Bounds for reading rows by their time where only their ids are in an index. The time of a row and that of its id
-- differ: a mail has its id before it is rendered, the rows of a long transaction have the time at which it began, and
-- times are rounded while those in ids are cut. So ids bound what is read, and the row's own time decides.
create or replace function first_id_around(t timestamptz) returns uuid
language sql stable parallel safe
return first_id_at(t - interval '1 minute');

create or replace function last_id_around(t timestamptz) returns uuid
language sql stable parallel safe
return first_id_at(t + interval '1 minute');

-- A mail that is older than the column `is_sent_event` is never its own event. Without this bound, a list would read all
-- older mails in search of others.
create or replace function sent_mails_since(since timestamptz) returns timestamptz
language sql stable parallel safe
return (
	select greatest(since, coalesce(min(executed_at) - interval '1 minute', '-infinity')) - punctuality()
	from mikro_orm_migrations where name = 'Migration20261123130000');

-- The events of punctual mails in a period, as rows of `events`. The planner puts the text of these functions into the
-- statement that asks, and so finds the index.
create or replace function sent_mails(project uuid, since timestamptz, until timestamptz)
returns table (project_id uuid, id uuid, name text, data jsonb, contact_id uuid, email_id uuid, created_at timestamptz)
language sql stable parallel safe
as $$
	select e.project_id, e.id, 'email.sent', '{}'::jsonb, e.contact_id, e.id, e.sent_at
	from emails e
	where e.project_id = project and e.is_sent_event
		and e.id >= first_id_at(sent_mails_since(since)) and e.id < first_id_at(until + interval '1 ms')
		and e.sent_at >= since and e.sent_at <= until
$$;

-- The same for one contact.
create or replace function sent_mails_to(project uuid, contact uuid, since timestamptz, until timestamptz)
returns table (project_id uuid, id uuid, name text, data jsonb, contact_id uuid, email_id uuid, created_at timestamptz)
language sql stable parallel safe
as $$
	select s.* from sent_mails(project, since, until) s where s.contact_id = contact
$$;

-- The newest of these before an event, by time and id. The mails with the latest ids are the newest but for those that
-- took longer to be sent: so the oldest of them, less `punctuality`, bounds what has to be sorted.
create or replace function newest_sent_mails(project uuid, since timestamptz, until timestamptz, before uuid, most int)
returns table (project_id uuid, id uuid, name text, data jsonb, contact_id uuid, email_id uuid, created_at timestamptz)
language sql stable parallel safe
as $$
	with latest as materialized (
		select s.id from sent_mails(project, since, until) s
		where (s.created_at, s.id) < (until, before) order by s.id desc limit most
	), oldest as (
		select uuid_extract_timestamp(id) as at from latest order by id limit 1
	)
	select s.* from sent_mails(project,
		case when (select count(*) from latest) < most then since else greatest(since, (select at from oldest)) end,
		until) s
	where (s.created_at, s.id) < (until, before)
	order by s.created_at desc, s.id desc limit most
$$;

create or replace function newest_sent_mails_to(project uuid, contact uuid, since timestamptz, until timestamptz, before uuid, most int)
returns table (project_id uuid, id uuid, name text, data jsonb, contact_id uuid, email_id uuid, created_at timestamptz)
language sql stable parallel safe
as $$
	with latest as materialized (
		select s.id from sent_mails_to(project, contact, since, until) s
		where (s.created_at, s.id) < (until, before) order by s.id desc limit most
	), oldest as (
		select uuid_extract_timestamp(id) as at from latest order by id limit 1
	)
	select s.* from sent_mails_to(project, contact,
		case when (select count(*) from latest) < most then since else greatest(since, (select at from oldest)) end,
		until) s
	where (s.created_at, s.id) < (until, before)
	order by s.created_at desc, s.id desc limit most
$$;

-- Stores the events of mails that are not their own, and announces the others to the automations and the webhook
-- endpoints that listen. The
-- statement that has recorded these mails calls it, and has counted the events. It is a function because it has to see
-- what was committed while that statement waited: see start_and_wake_executions_by. Contacts are locked in order of
-- ids for all mails at once.
create or replace function emit_sent_mails(project uuid, mails uuid[], has_late bool) returns void language plpgsql
	set enable_seqscan to off
as $$
declare
	is_heard bool := exists (
		select from automation_event_names n where n.project_id = project and n.name = 'email.sent');
begin
	if is_heard then
		perform from (
			select contact_id from emails e
			where e.project_id = project and e.id = any(mails) and e.contact_id is not null order by 1) reader
		cross join lateral (
			select from contacts c where c.project_id = project and c.id = reader.contact_id for no key update) c;
	end if;
	if has_late then
		insert into events (project_id, name, contact_id, email_id, created_at)
		select project_id, 'email.sent', contact_id, id, sent_at from emails
		where project_id = project and id = any(mails) and not is_sent_event;
	end if;
	if is_heard then
		perform start_and_wake_executions_by(jsonb_agg(jsonb_build_object('project_id', project_id, 'id', id,
			'name', 'email.sent', 'data', '{}'::jsonb, 'contact_id', contact_id, 'email_id', id, 'created_at', sent_at)))
		from emails where project_id = project and id = any(mails) and is_sent_event and contact_id is not null
		having count(*) > 0;
	end if;
	perform announce_sent_mails(project, mails, has_late);
end $$;
