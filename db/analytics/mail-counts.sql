-- Mails by quarters of an hour: db/analytics/mail-count.ts explains the counts.

-- The quarter of an hour that contains a time.
create or replace function quarter_of(t timestamptz) returns timestamptz
language sql immutable parallel safe
return date_bin('15 minutes', t, '2000-01-01Z');

-- The outcomes of a mail, each with its time. Opens and clicks also count for the time of sending.
create or replace function mail_outcomes(
	sent_at timestamptz, delivered_at timestamptz, opened_at timestamptz, clicked_at timestamptz,
	bounced_at timestamptz)
returns table (at timestamptz, sent int, delivered int, opened int, clicked int, bounced int, sent_opened int, sent_clicked int)
language sql immutable parallel safe
as $$
	select * from (values
		(sent_at, 1, 0, 0, 0, 0, (opened_at is not null)::int, (clicked_at is not null)::int),
		(delivered_at, 0, 1, 0, 0, 0, 0, 0),
		(opened_at, 0, 0, 1, 0, 0, 0, 0),
		(clicked_at, 0, 0, 0, 1, 0, 0, 0),
		(bounced_at, 0, 0, 0, 0, 1, 0, 0)
	) outcome where column1 is not null
$$;

-- Folding works like that of event counts.
create or replace function fold_mail_tallies(project uuid) returns void language plpgsql as $$
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
	insert into mail_counts as c
		(project_id, slot, created, sent, delivered, opened, clicked, bounced, sent_opened, sent_clicked)
	select project, slot, sum(created), sum(sent), sum(delivered), sum(opened), sum(clicked), sum(bounced),
		sum(sent_opened), sum(sent_clicked)
	from gone group by slot order by slot
	on conflict (project_id, slot) do update set
		created = c.created + excluded.created,
		sent = c.sent + excluded.sent,
		delivered = c.delivered + excluded.delivered,
		opened = c.opened + excluded.opened,
		clicked = c.clicked + excluded.clicked,
		bounced = c.bounced + excluded.bounced,
		sent_opened = c.sent_opened + excluded.sent_opened,
		sent_clicked = c.sent_clicked + excluded.sent_clicked;
end $$;

-- The first of all tallies, because every statement that writes mails writes these first. Many mails get no
-- outcome, so their tallies are folded here too.
create or replace function count_created_mails() returns trigger language plpgsql as $$
begin
	if not is_counted() then
		insert into mail_tallies (project_id, slot, created)
		select project_id, quarter_of(created_at) as slot, count(*)::int from added group by 1, 2;
	end if;
	if random() < 1.0 / 256 then
		perform fold_mail_tallies(project_id) from (select distinct project_id from added) touched;
	end if;
	return null;
end $$;

create or replace trigger emails_count_created after insert on emails
	referencing new table as added
	for each statement execute function count_created_mails();

-- Only a few mails are inserted with an outcome. Failed mails and scheduled mails of automations also get a feed
-- entry. One pass over the rows, which most statements pay for, serves both.
create or replace function count_outcomes_of_new_mails() returns trigger language plpgsql as $$
begin
	if is_counted() then
		return null;
	end if;
	if exists (select from added where
		coalesce(sent_at, delivered_at, opened_at, clicked_at, bounced_at) is not null
		or status = 'FAILED' or workflow_step_execution_id is not null and status = 'PENDING') then

		insert into mail_tallies
			(project_id, slot, sent, delivered, opened, clicked, bounced, sent_opened, sent_clicked)
		select project_id, quarter_of(at), sum(sent), sum(delivered), sum(opened), sum(clicked), sum(bounced),
			sum(sent_opened), sum(sent_clicked)
		from added cross join lateral mail_outcomes(sent_at, delivered_at, opened_at, clicked_at, bounced_at)
		group by 1, 2;

		insert into feed_entries (project_id, type, contact_id, email_id)
		select project_id, case status when 'FAILED' then 'email.failed' else 'workflow.email.scheduled' end,
			contact_id, id
		from added
		where status = 'FAILED' or workflow_step_execution_id is not null and status = 'PENDING';
	end if;
	return null;
end $$;

create or replace trigger emails_count_outcomes after insert on emails
	referencing new table as added
	for each statement execute function count_outcomes_of_new_mails();

-- Many mails of a statement have the same outcome at the same time, before and after it. They are counted in groups
-- before each group's outcomes are determined.
create or replace function count_outcomes_of_changed_mails() returns trigger language plpgsql as $$
declare
	appended int;
begin
	if is_counted() then
		if random() < 1.0 / 256 then
			perform fold_mail_tallies(project_id) from (select distinct project_id from added) touched;
		end if;
		return null;
	end if;
	if not exists (select from added where
			coalesce(sent_at, delivered_at, opened_at, clicked_at, bounced_at) is not null or status = 'FAILED')
		and not exists (select from removed where
			coalesce(sent_at, delivered_at, opened_at, clicked_at, bounced_at) is not null) then
		return null;
	end if;

	insert into mail_tallies
		(project_id, slot, sent, delivered, opened, clicked, bounced, sent_opened, sent_clicked)
	with alike as (
		select project_id, quarter_of(sent_at) as sent_at, quarter_of(delivered_at) as delivered_at,
			quarter_of(opened_at) as opened_at, quarter_of(clicked_at) as clicked_at,
			quarter_of(bounced_at) as bounced_at, sum(n)::int as n
		from (
			select project_id, sent_at, delivered_at, opened_at, clicked_at, bounced_at, 1 as n from added
			union all
			select project_id, sent_at, delivered_at, opened_at, clicked_at, bounced_at, -1 as n from removed
		) mails
		group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0
	), sums as (
		select project_id, at, sum(n * sent) as sent, sum(n * delivered) as delivered, sum(n * opened) as opened,
			sum(n * clicked) as clicked, sum(n * bounced) as bounced, sum(n * sent_opened) as sent_opened,
			sum(n * sent_clicked) as sent_clicked
		from alike cross join lateral mail_outcomes(sent_at, delivered_at, opened_at, clicked_at, bounced_at)
		group by 1, 2
	)
	select project_id, at, sent, delivered, opened, clicked, bounced, sent_opened, sent_clicked from sums
	where (sent, delivered, opened, clicked, bounced, sent_opened, sent_clicked) <> (0, 0, 0, 0, 0, 0, 0);
	get diagnostics appended = row_count;
	if appended > 0 and random() < 1.0 / 256 then
		perform fold_mail_tallies(project_id) from (select distinct project_id from added) touched;
	end if;

	if exists (select from added where status = 'FAILED') then
		insert into feed_entries (project_id, type, contact_id, email_id)
		select a.project_id, 'email.failed', a.contact_id, a.id from added a
		where status = 'FAILED' and not exists (
			select from removed r where r.project_id = a.project_id and r.id = a.id and r.status = 'FAILED');
	end if;
	return null;
end $$;

create or replace trigger emails_count_outcomes_changed after update on emails
	referencing old table as removed new table as added
	for each statement execute function count_outcomes_of_changed_mails();
