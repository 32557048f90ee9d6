-- The mails of a campaign by state: db/campaigns/campaign-count.ts explains the counts.

-- The number of a campaign's mails in each state. The planner puts this text into the statement that asks.
create or replace function counts_of_campaign(project uuid, campaign uuid)
returns table (
	pending int, sending int, uncertain int, sent int, failed int, skipped int, delivered int, opened int,
	clicked int, bounced int, complained int, unsubscribed int
) language sql stable parallel safe
as $$
	select
		coalesce(sum(c.pending), 0)::int, coalesce(sum(c.sending), 0)::int, coalesce(sum(c.uncertain), 0)::int,
		coalesce(sum(c.sent), 0)::int, coalesce(sum(c.failed), 0)::int, coalesce(sum(c.skipped), 0)::int,
		coalesce(sum(c.delivered), 0)::int, coalesce(sum(c.opened), 0)::int, coalesce(sum(c.clicked), 0)::int,
		coalesce(sum(c.bounced), 0)::int, coalesce(sum(c.complained), 0)::int, coalesce(sum(c.unsubscribed), 0)::int
	from (
		select pending, sending, uncertain, sent, failed, skipped, delivered, opened, clicked, bounced, complained,
			unsubscribed
		from campaign_counts where project_id = project and campaign_id = campaign
		union all
		select pending, sending, uncertain, sent, failed, skipped, delivered, opened, clicked, bounced, complained,
			unsubscribed
		from campaign_tallies where project_id = project and campaign_id = campaign
	) c
$$;

-- The same states, and the recipients whose mails are not in the ledger yet.
create or replace function states_of_campaign(project uuid, campaign uuid)
returns table (pending int, sending int, uncertain int, sent int, failed int, skipped int, to_come int)
language sql stable parallel safe
as $$
	select n.pending, n.sending, n.uncertain, n.sent, n.failed, n.skipped, greatest(0, k.total_recipients
		- (n.pending + n.sending + n.uncertain + n.sent + n.failed + n.skipped))
	from campaigns k cross join lateral counts_of_campaign(k.project_id, k.id) n
	where k.project_id = project and k.id = campaign
$$;

-- The slot of a change: a minute in the first day of a campaign, later an hour. So a campaign whose mails are opened for
-- years has few slots. Minutes end at a full hour.
create or replace function slot_of_campaign(at timestamptz, began timestamptz) returns timestamptz
language sql immutable parallel safe
return date_bin(
	case when at < date_bin('1 hour', began, '2000-01-01Z') + interval '25 hours' then interval '1 minute'
		else interval '1 hour' end,
	at, '2000-01-01Z');

-- Folding works like that of event counts. Tallies of the last half minute stay, because they show how fast a
-- campaign is being sent.
create or replace function fold_campaign_tallies(project uuid, campaign uuid) returns void language plpgsql as $$
begin
	if not pg_try_advisory_xact_lock(hashtextextended('campaign tallies of ' || campaign, 0)) then
		return;
	end if;
	with gone as (
		delete from campaign_tallies where project_id = project and campaign_id = campaign and id in (
			select id from campaign_tallies where project_id = project and campaign_id = campaign
				and id < (select uuidv7('-30 seconds'))
			order by id limit 2000 for update skip locked)
		returning *
	), slots as (
		insert into campaign_slots as c (project_id, campaign_id, slot, sent, delivered, opened, clicked, bounced, unsubscribed)
		select project, campaign, slot_of_campaign(uuid_extract_timestamp(id), k.started_at) as slot, sum(sent),
			sum(delivered), sum(opened), sum(clicked), sum(bounced), sum(unsubscribed)
		from gone, (select started_at from campaigns where project_id = project and campaigns.id = campaign) k
		group by 3 having (sum(sent), sum(delivered), sum(opened), sum(clicked), sum(bounced), sum(unsubscribed))
			<> (0, 0, 0, 0, 0, 0)
		on conflict (project_id, campaign_id, slot) do update set
			sent = c.sent + excluded.sent,
			delivered = c.delivered + excluded.delivered,
			opened = c.opened + excluded.opened,
			clicked = c.clicked + excluded.clicked,
			bounced = c.bounced + excluded.bounced,
			unsubscribed = c.unsubscribed + excluded.unsubscribed
	)
	insert into campaign_counts as c (project_id, campaign_id, pending, sending, uncertain, sent, failed, skipped,
		delivered, opened, clicked, bounced, complained, unsubscribed)
	select project, campaign, sum(pending), sum(sending), sum(uncertain), sum(sent), sum(failed), sum(skipped),
		sum(delivered), sum(opened), sum(clicked), sum(bounced), sum(complained), sum(unsubscribed)
	from gone having count(*) > 0
	on conflict (project_id, campaign_id) do update set
		pending = c.pending + excluded.pending,
		sending = c.sending + excluded.sending,
		uncertain = c.uncertain + excluded.uncertain,
		sent = c.sent + excluded.sent,
		failed = c.failed + excluded.failed,
		skipped = c.skipped + excluded.skipped,
		delivered = c.delivered + excluded.delivered,
		opened = c.opened + excluded.opened,
		clicked = c.clicked + excluded.clicked,
		bounced = c.bounced + excluded.bounced,
		complained = c.complained + excluded.complained,
		unsubscribed = c.unsubscribed + excluded.unsubscribed;
end $$;

-- The counts of one mail: exactly one of the first six, which `progress` shows, and its later events.
create or replace function campaign_counts_of_mail(
	status text, delivered_at timestamptz, opened_at timestamptz, clicked_at timestamptz, bounced_at timestamptz,
	complained_at timestamptz, unsubscribed_at timestamptz)
returns table (pending int, sending int, uncertain int, sent int, failed int, skipped int, delivered int, opened int,
	clicked int, bounced int, complained int, unsubscribed int)
language sql immutable parallel safe
as $$
	select (status = 'PENDING')::int, (status = 'SENDING')::int, (status = 'UNCERTAIN')::int,
		(status in ('SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED'))::int,
		(status = 'FAILED')::int, (status in ('SUPPRESSED', 'CANCELLED'))::int,
		(delivered_at is not null)::int, (opened_at is not null)::int, (clicked_at is not null)::int,
		(bounced_at is not null)::int, (complained_at is not null)::int, (unsubscribed_at is not null)::int
$$;

create or replace function tally_new_campaign_mails() returns trigger language plpgsql as $$
begin
	if not exists (select from added where campaign_id is not null) then
		return null;
	end if;
	if not is_counted() then
		insert into campaign_tallies (project_id, campaign_id, pending, sending, uncertain, sent, failed, skipped,
			delivered, opened, clicked, bounced, complained, unsubscribed)
		select project_id, campaign_id, sum(pending), sum(sending), sum(uncertain), sum(sent), sum(failed),
			sum(skipped), sum(delivered), sum(opened), sum(clicked), sum(bounced), sum(complained), sum(unsubscribed)
		from added cross join lateral campaign_counts_of_mail(
			status, delivered_at, opened_at, clicked_at, bounced_at, complained_at, unsubscribed_at)
		where campaign_id is not null group by 1, 2;
	end if;
	if random() < 1.0 / 64 then
		perform fold_campaign_tallies(project_id, campaign_id)
		from (select distinct project_id, campaign_id from added where campaign_id is not null) touched;
	end if;
	return null;
end $$;

create or replace trigger emails_tally_campaigns after insert on emails
	referencing new table as added
	for each statement execute function tally_new_campaign_mails();

create or replace function tally_changed_campaign_mails() returns trigger language plpgsql as $$
begin
	if not exists (select from added where campaign_id is not null) then
		return null;
	end if;
	if not is_counted() then
		insert into campaign_tallies (project_id, campaign_id, pending, sending, uncertain, sent, failed, skipped,
			delivered, opened, clicked, bounced, complained, unsubscribed)
		select * from (
			select project_id, campaign_id,
				sum(n * pending) as pending, sum(n * sending) as sending, sum(n * uncertain) as uncertain,
				sum(n * sent) as sent, sum(n * failed) as failed, sum(n * skipped) as skipped,
				sum(n * delivered) as delivered, sum(n * opened) as opened, sum(n * clicked) as clicked,
				sum(n * bounced) as bounced, sum(n * complained) as complained, sum(n * unsubscribed) as unsubscribed
			from (
				select project_id, campaign_id, status, delivered_at, opened_at, clicked_at, bounced_at, complained_at,
					unsubscribed_at, 1 as n
				from added where campaign_id is not null
				union all
				select project_id, campaign_id, status, delivered_at, opened_at, clicked_at, bounced_at, complained_at,
					unsubscribed_at, -1
				from removed where campaign_id is not null
			) mails cross join lateral campaign_counts_of_mail(
				status, delivered_at, opened_at, clicked_at, bounced_at, complained_at, unsubscribed_at)
			group by 1, 2
		) sums
		where (pending, sending, uncertain, sent, failed, skipped, delivered, opened, clicked, bounced, complained,
			unsubscribed) <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	end if;
	if random() < 1.0 / 64 then
		perform fold_campaign_tallies(project_id, campaign_id)
		from (select distinct project_id, campaign_id from added where campaign_id is not null) touched;
	end if;
	return null;
end $$;

create or replace trigger emails_tally_campaigns_changed after update on emails
	referencing old table as removed new table as added
	for each statement execute function tally_changed_campaign_mails();

-- A campaign never ends before all its recipients have their mails, and its lanes never change. A process of a release
-- that knows no pages fails here, and one that does tries again.
create or replace function keep_audience_of_campaign() returns trigger language plpgsql as $$
begin
	if exists (select from audience_pages where project_id = new.project_id and campaign_id = new.id) then
		raise exception 'Campaign % still has recipients without mails', new.id;
	end if;
	return new;
end $$;

create or replace trigger campaigns_keep_audience before update on campaigns
	for each row when (new.status = 'SENT' and old.status <> 'SENT' or new.closed_at is not null and old.closed_at is null
		or old.lane_bounds is not null and new.lane_bounds is distinct from old.lane_bounds)
	execute function keep_audience_of_campaign();
