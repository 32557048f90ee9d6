-- What projects use each month, and their limits: db/billing/usage-count.ts explains the counts.

-- Without a subscription a project may use this many mails a month.
create or replace function free_mails_a_month() returns int
language sql immutable parallel safe
return 1000;

create or replace function month_of(t timestamptz) returns date
language sql stable parallel safe
return date_trunc('month', t, 'UTC')::date;

create or replace function usage_category(source_type text) returns text
language sql immutable parallel safe
return case source_of_mail(source_type) when 'WORKFLOW' then 'workflows' when 'CAMPAIGN' then 'campaigns'
	when 'INBOUND' then 'inbound' else 'transactional' end;

-- Mails that failed, were suppressed or were cancelled are not charged, nor are the platform's own.
create or replace function is_charged(project uuid, status text) returns bool
language sql immutable parallel safe
return status not in ('FAILED', 'SUPPRESSED', 'CANCELLED') and project <> platform_project();

-- A mail with attachments counts twice.
create or replace function usage_weight(attachments jsonb) returns int
language sql immutable parallel safe
return case when attachments is null then 1 else 2 end;

-- A mail counts as used when it is accepted, so that nobody queues more than may be sent, and is charged when it
-- has been sent. Campaigns wait until a limit is raised, so their mails count as used when they are sent. Incoming
-- mails are used and charged at once.
create or replace function usage_of_mail(source_type text, weight int, created_at timestamptz, left_at timestamptz)
returns table (month date, used int, sent int)
language sql stable parallel safe
as $$
	select month_of(created_at), weight, case source_type when 'INBOUND' then weight else 0 end
	where source_of_mail(source_type) <> 'CAMPAIGN'
	union all
	select month_of(left_at), case source_of_mail(source_type) when 'CAMPAIGN' then weight else 0 end, weight
	where left_at is not null and source_of_mail(source_type) <> 'INBOUND'
$$;

-- Folding works like that of event counts, but it locks the project, too: see lock_for_folding.
create or replace function fold_usage(project uuid) returns void language plpgsql as $$
begin
	if not lock_for_folding('usage of ' || project, project) then
		return;
	end if;
	with gone as (
		delete from usage_tallies where project_id = project and id in (
			select id from usage_tallies where project_id = project order by id limit 2000
			for update skip locked)
		returning *
	)
	insert into usage_counts as c (project_id, month, category, used, sent)
	select project, month, category, sum(used), sum(sent) from gone group by month, category order by 1, 2, 3
	on conflict (project_id, month, category) do update
		set used = c.used + excluded.used, sent = c.sent + excluded.sent;
end $$;

-- Mails count as sent when the provider accepts them, or refuses their address at the hand-over: the provider has
-- done its work then.
create or replace function count_usage_of_new_mails() returns trigger language plpgsql as $$
begin
	if is_counted() then
		return null;
	end if;
	if exists (select from added where coalesce(sent_at, bounced_at) is not null or campaign_id is null) then
		insert into usage_tallies (project_id, month, category, used, sent)
		select a.project_id, u.month, usage_category(a.source_type), sum(u.used)::int, sum(u.sent)::int
		from added a cross join lateral usage_of_mail(
			a.source_type, usage_weight(a.attachments), a.created_at, coalesce(a.sent_at, a.bounced_at)) u
		where is_charged(a.project_id, a.status)
		group by 1, 2, 3;
	end if;
	return null;
end $$;

create or replace trigger emails_usage after insert on emails
	referencing new table as added
	for each statement execute function count_usage_of_new_mails();

-- A change matters if a mail is sent, or if it turns out that it never will be. Many mails of a statement count the
-- same before and after it, so they are counted in groups first.
create or replace function count_usage_of_changed_mails() returns trigger language plpgsql as $$
declare
	appended int;
begin
	if is_counted() then
		if random() < 1.0 / 64 then
			perform fold_usage(project_id) from (select distinct project_id from added) touched;
		end if;
		return null;
	end if;
	if not exists (select from added where coalesce(sent_at, bounced_at) is not null
			or status in ('FAILED', 'SUPPRESSED', 'CANCELLED'))
		and not exists (select from removed where coalesce(sent_at, bounced_at) is not null
			or status in ('FAILED', 'SUPPRESSED', 'CANCELLED')) then
		return null;
	end if;

	insert into usage_tallies (project_id, month, category, used, sent)
	with alike as (
		select project_id, source_type, weight, created_at, left_at, sum(n)::int as n from (
			select project_id, source_type, usage_weight(attachments) as weight, created_at,
				coalesce(sent_at, bounced_at) as left_at, 1 as n
			from added where is_charged(project_id, status)
			union all
			select project_id, source_type, usage_weight(attachments), created_at,
				coalesce(sent_at, bounced_at), -1
			from removed where is_charged(project_id, status)
		) mails group by 1, 2, 3, 4, 5 having sum(n) <> 0
	)
	select a.project_id, u.month, usage_category(a.source_type), sum(u.used)::int, sum(u.sent)::int
	from alike a cross join lateral usage_of_mail(a.source_type, a.n * a.weight, a.created_at, a.left_at) u
	group by 1, 2, 3 having sum(u.used) <> 0 or sum(u.sent) <> 0;
	get diagnostics appended = row_count;
	-- Requests read the tallies that are not folded yet, so their number is kept small.
	if appended > 0 and random() < 1.0 / 64 then
		perform fold_usage(project_id) from (select distinct project_id from added) touched;
	end if;
	return null;
end $$;

create or replace trigger emails_usage_changed after update on emails
	referencing old table as removed new table as added
	for each statement execute function count_usage_of_changed_mails();

-- A project's usage this month, and its limits; null is no limit. Without a subscription all categories together
-- have one limit.
create or replace function usage_standing(project uuid)
returns table (category text, used bigint, allowed int)
language sql stable
as $$
	with counted as (
		select c.category, sum(c.used) as used from (
			select category, used from usage_counts where project_id = project and month = month_of(now())
			union all
			select category, used from usage_tallies where project_id = project and month = month_of(now())
		) c group by c.category
	), account as (
		select * from billing_accounts where project_id = project
	)
	select named.category, coalesce((select n.used from counted n where n.category = named.category), 0), named.allowed
	from (values
		('workflows', (select workflows_limit from account)),
		('campaigns', (select campaigns_limit from account)),
		('transactional', (select transactional_limit from account)),
		('inbound', (select inbound_limit from account))
	) named (category, allowed)
	union all
	select 'total', coalesce(sum(n.used), 0)::bigint,
		case when not coalesce((select subscribed from account), false) then free_mails_a_month() end
	from counted n
$$;

-- Another limit has notices of its own, and the usage is compared with it at once.
create or replace function renew_notices() returns trigger language plpgsql as $$
declare
	changed text[] = array(
		select category from (values
			('workflows', old.workflows_limit is distinct from new.workflows_limit),
			('campaigns', old.campaigns_limit is distinct from new.campaigns_limit),
			('transactional', old.transactional_limit is distinct from new.transactional_limit),
			('inbound', old.inbound_limit is distinct from new.inbound_limit),
			('total', old.subscribed is distinct from new.subscribed)
		) limits (category, is_other) where is_other);
begin
	if cardinality(changed) > 0 then
		delete from usage_notices
		where project_id = new.project_id and month = month_of(now()) and category = any(changed);
		update usage_counts set judged = 0
		where project_id = new.project_id and month = month_of(now())
			and (category = any(changed) or 'total' = any(changed));
	end if;
	return null;
end $$;

create or replace trigger billing_accounts_limits_changed after insert or update on billing_accounts
	for each row execute function renew_notices();

-- Of the limits on mail of this category, the one with the least left; null if there is none.
create or replace function nearest_limit(project uuid, of_category text) returns jsonb
language sql stable
as $$
	select jsonb_build_object('category', category, 'limit', allowed, 'usage', used)
	from usage_standing(project)
	where category in (of_category, 'total') and allowed is not null
	order by allowed - used limit 1
$$;
