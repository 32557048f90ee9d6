-- Permanent bounces and complaints decide whether a project may continue sending.

-- The values from which a project is warned and from which it is suspended. A rate is a share of the mails sent in
-- its period and counts only from `least_mails` mails and `least_reports` bounces or complaints on. An amount is a
-- plain number of reports and applies only to new projects. The periods are those of reputation_windows.
--
-- Mailbox providers ask for less than 0.3 % complaints (Gmail's and Yahoo's rules for bulk senders), and Amazon SES
-- pauses accounts at 10 % bounces or 0.5 % complaints. A shared reputation has to be protected earlier.
create or replace function reputation_thresholds() returns table (
	signal text, period text, is_rate bool, warn float8, suspend float8, least_mails int, least_reports int)
language sql immutable
as $$
	values
		('bounces', 'sevenDay', true, 0.05, 0.10, 100, 5),
		('bounces', 'allTime', true, 0.04, 0.08, 100, 10),
		('complaints', 'sevenDay', true, 0.00075, 0.0015, 100, 3),
		('complaints', 'allTime', true, 0.0003, 0.0012, 100, 5),
		('bounces', 'twentyFourHour', false, 10, 25, 0, 0),
		('bounces', 'sevenDay', false, 25, 50, 0, 0),
		('complaints', 'twentyFourHour', false, 3, 7, 0, 0),
		('complaints', 'sevenDay', false, 10, 20, 0, 0)
$$;

-- The age up to which a project counts as new.
create or replace function new_project_age() returns interval
language sql immutable parallel safe
return interval '30 days';

-- The counts of each period, in whole hours: the current hour and those before it. Mails count once they were sent,
-- or refused for their address at the hand-over.
create or replace function reputation_windows(project uuid)
returns table (period text, total bigint, bounces bigint, complaints bigint)
language sql stable
as $$
	with hours as materialized (
		select hour, c.total, c.bounces, c.complaints from reputation_counts c where project_id = project
		union all
		select hour, t.total, t.bounces, t.complaints from reputation_tallies t where project_id = project
	)
	select p.period, coalesce(sum(h.total), 0)::bigint, coalesce(sum(h.bounces), 0)::bigint,
		coalesce(sum(h.complaints), 0)::bigint
	from (values ('twentyFourHour', now() - interval '24 hours'),
		('sevenDay', now() - interval '7 days'), ('allTime', '-infinity')) as p(period, since)
	left join hours h on h.hour > p.since
	group by p.period
$$;

create or replace function reputation_findings(project uuid)
returns table (signal text, period text, is_rate bool, value float8, warn float8, suspend float8, level text)
language sql stable
as $$
	with measured as (
		select t.*, w.total, n.reports, case when t.is_rate
			then coalesce(n.reports::float8 / nullif(w.total, 0), 0) else n.reports::float8 end as value
		from reputation_windows(project) w
		join reputation_thresholds() t on t.period = w.period
		cross join lateral (
			select case t.signal when 'bounces' then w.bounces else w.complaints end as reports) n
		where t.is_rate or exists (
			select from projects p where p.id = project and p.created_at > now() - new_project_age())
	)
	select m.signal, m.period, m.is_rate, m.value, m.warn, m.suspend,
		case when m.total < m.least_mails or m.reports < m.least_reports then 'healthy'
			when m.value >= m.suspend then 'critical'
			when m.value >= m.warn then 'warning' else 'healthy' end
	from measured m
$$;

-- From this transaction on, a suspended project sends nothing. The workflow cancels its campaigns and waiting mails
-- and notifies its members.
create or replace function suspend_project(project uuid, why text, because_of text) returns void
language sql
as $$
	with disabled as (
		update projects set disabled_reason = why, updated_at = now()
		where id = project and disabled_reason is null returning id
	), suspended as (
		insert into suspensions (project_id, reason, signal) select id, why, because_of from disabled
		returning project_id, id
	)
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select project_id, 'start', 3, 'suspendProject', 'suspension/' || id, 'core',
		jsonb_build_object('projectId', project_id, 'suspensionId', id), why
	from suspended;
	select pg_notify('outbox', '')
$$;

-- Suspends a project whose reputation is critical. Because of the lock, the second of two simultaneous bounces sees
-- the first.
create or replace function judge_project(project uuid) returns void language plpgsql as $$
declare
	critical_signal text;
begin
	perform pg_advisory_xact_lock(hashtextextended('reputation of ' || project, 0));
	if exists (select from projects where id = project and disabled_reason is null) then
		select signal into critical_signal from reputation_findings(project) where level = 'critical' limit 1;
		if found then
			perform suspend_project(project, 'EMAIL_REPUTATION', critical_signal);
		end if;
	end if;
end $$;

-- Hours older than the moving periods of reputation_windows, which are all but `allTime`, become one row per day.
-- Folding works like that of event counts, but it also locks the project: see lock_for_folding.
create or replace function fold_reputation(project uuid) returns void language plpgsql as $$
declare
	oldest timestamptz := date_trunc('day', now(), 'UTC') - interval '8 days';
begin
	if not lock_for_folding('reputation tallies of ' || project, project) then
		return;
	end if;
	with gone as (
		delete from reputation_tallies where project_id = project and id in (
			select id from reputation_tallies where project_id = project order by id limit 2000
			for update skip locked)
		returning hour, total, bounces, complaints
	)
	insert into reputation_counts as c (project_id, hour, total, bounces, complaints)
	select project, hour, sum(total), sum(bounces), sum(complaints) from gone group by hour order by hour
	on conflict (project_id, hour) do update set total = c.total + excluded.total,
		bounces = c.bounces + excluded.bounces, complaints = c.complaints + excluded.complaints;
	with gone as (
		delete from reputation_counts where project_id = project and hour < oldest
			and hour <> date_trunc('day', hour, 'UTC')
		returning hour, total, bounces, complaints
	)
	insert into reputation_counts as c (project_id, hour, total, bounces, complaints)
	select project, date_trunc('day', hour, 'UTC'), sum(total), sum(bounces), sum(complaints)
	from gone group by 2 order by 2
	on conflict (project_id, hour) do update set total = c.total + excluded.total,
		bounces = c.bounces + excluded.bounces, complaints = c.complaints + excluded.complaints;
end $$;

-- Whether an event counts against its address and its project. The platform's own mails never do: a password reset
-- must always arrive.
create or replace function is_blamed(project uuid, event_name text, event_data jsonb) returns bool
language sql immutable parallel safe
return (event_name = 'email.complaint' or event_name = 'email.bounce' and event_data->>'bounceType' = 'Permanent')
	and project <> platform_project();

-- A permanent bounce or a complaint suppresses the address, unsubscribes its contact and judges the project, in the
-- transaction that writes the event. An erased contact's address is no longer known.
create or replace function suppress_and_judge() returns trigger language plpgsql as $$
declare
	blamed uuid;
begin
	-- Such a statement writes no report of a bounce or complaint.
	if is_counted() then
		return null;
	end if;
	if not exists (select from added where name in ('email.sent', 'email.bounce', 'email.complaint')) then
		return null;
	end if;

	insert into reputation_tallies (project_id, hour, total, bounces, complaints)
	select project_id, date_trunc('hour', created_at, 'UTC'),
		count(*) filter (where name = 'email.sent' or name = 'email.bounce' and data->>'sentAt' is null),
		count(*) filter (where name = 'email.bounce'), count(*) filter (where name = 'email.complaint')
	from added
	where name = 'email.sent' and project_id <> platform_project() or is_blamed(project_id, name, data)
	group by 1, 2;
	if random() < 1.0 / 256 then
		perform fold_reputation(project_id) from (select distinct project_id from added) touched;
	end if;
	if not exists (select from added where is_blamed(project_id, name, data)) then
		return null;
	end if;

	with reported as materialized (
		select distinct on (e.project_id, address) e.project_id, address, e.id,
			case a.name when 'email.complaint' then 'COMPLAINT' else 'BOUNCE' end as reason
		from (select project_id, email_id, name, data from added where is_blamed(project_id, name, data)) a
		join emails e on e.project_id = a.project_id and e.id = a.email_id
		-- The place of a copy, if it is about one.
		cross join lateral (
			select coalesce(e.copies->(a.data->>'copy')::int->>'email', e."to") as address) named
		where address <> erased_address()
		order by e.project_id, address, a.name desc
	), suppressed as (
		insert into suppressions as s (project_id, email, reason, email_id)
		select project_id, address, reason, id from reported order by project_id, address
		-- A reader who allows mail again does not take back that it bounces.
		on conflict (project_id, email) do update set reason = excluded.reason, email_id = excluded.email_id,
				stopped_at = coalesce(s.stopped_at, s.created_at)
			where s.reason = 'UNSUBSCRIBED_ALL'
	), readers as materialized (
		select c.project_id, c.id from reported r join contacts c
			on c.project_id = r.project_id and c.email = r.address
		order by c.project_id, c.id for no key update of c
	), refused as (
		update contacts c set subscribed = false, refused_at = clock_timestamp(),
			updated_at = case when c.subscribed then now() else c.updated_at end
		from readers r where c.project_id = r.project_id and c.id = r.id
		returning with (old as before) c.project_id, c.id, before.subscribed as flipped
	)
	insert into events (project_id, name, contact_id)
	select project_id, 'contact.unsubscribed', id from refused where flipped;

	for blamed in select distinct project_id from added where is_blamed(project_id, name, data) order by 1 loop
		perform judge_project(blamed);
	end loop;
	return null;
end $$;

create or replace trigger events_suppress_and_judge after insert on events
	referencing new table as added
	for each statement execute function suppress_and_judge();

-- Sent mails are counted by the statement that records them. No event is inserted, so no trigger folds these counts.
create or replace function fold_counts_of_sending(project uuid) returns void language plpgsql as $$
begin
	perform fold_event_tallies(project);
	perform fold_reputation(project);
end $$;
