import type { Campaign } from '../campaigns/campaign.ts'
import { eventCounts } from '../events/event-queries.ts'
import { isTriggered } from '../events/event.ts'
import { date, float, int, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

// Figures for days in a time zone. They are read from counts by quarter of an hour, by campaign and by
// day, never from mails.

const columns = `sent, delivered, opened, clicked, bounced, sent_opened, sent_clicked`
/** The counts of the slots that a condition on `slot` selects. */
const counted = (slots: string) => `(
		select slot, ${columns} from mail_counts where project_id = $projectId and ${slots}
		union all
		select slot, ${columns} from mail_tallies where project_id = $projectId and ${slots}
	) counted`
const sums = (...names: string[]) => names.map((name) => `sum(${name})::int as ${name}`).join(', ')

/** In UTC. */
const dayAround = {
	first: `($firstDay::date - 1)::timestamp at time zone 'UTC'`,
	end: `($lastDay::date + 2)::timestamp at time zone 'UTC'`,
}

/**
 * Every day of a range. Complaints are counted by days in UTC; each whose event is still kept moves to its day in the zone. They
 * are few, and the index of events by name has their times.
 */
export const timeseries = statement('timeseries', {
	params: { projectId: uuid, firstDay: date, lastDay: date, timeZone: text },
	row: {
		date: text,
		emails: int,
		opens: int,
		clicks: int,
		bounces: int,
		delivered: int,
		complaints: int,
	},
	text: `with counts as (
		select (slot at time zone $timeZone::text)::date as day,
			${sums('sent', 'delivered', 'opened', 'clicked', 'bounced')}
		from ${counted(`slot >= ${dayAround.first} and slot < ${dayAround.end}`)}
		group by 1
	), kept as (
		select (created_at at time zone 'UTC')::date as utc_day,
			(created_at at time zone $timeZone::text)::date as day, count(*) as complaints
		from events where project_id = $projectId and name = 'email.complaint'
			and created_at >= ${dayAround.first} and created_at < ${dayAround.end}
		group by 1, 2
	), complained as (
		select day, sum(complaints) as complaints from (
			select day, count as complaints from counted_events($projectId) t
				where name = 'email.complaint' and day between $firstDay::date and $lastDay::date
			union all
			select utc_day, -complaints from kept
			union all
			select day, complaints from kept
		) moved group by day
	)
	select to_char(day.day, 'YYYY-MM-DD') as date, coalesce(sent, 0) as emails, coalesce(opened, 0) as opens,
		coalesce(clicked, 0) as clicks, coalesce(bounced, 0) as bounces,
		coalesce(delivered, 0) as delivered, coalesce(complaints, 0)::int as complaints
	from generate_series($firstDay::date::timestamp, $lastDay::date::timestamp, '1 day') as day(day)
	left join counts on counts.day = day.day::date
	left join complained on complained.day = day.day::date
	order by day.day`,
})

/**
 * Mails sent in a period, and how many of them were opened and clicked since; also mails delivered and
 * bounced in it.
 */
export const mailTotals = statement('mail-totals', {
	params: { projectId: uuid, since: timestamp, until: timestamp.orNull },
	row: { sent: int, delivered: int, opened: int, clicked: int, bounced: int },
	text: `select coalesce(sum(sent), 0)::int as sent, coalesce(sum(sent_opened), 0)::int as opened,
		coalesce(sum(sent_clicked), 0)::int as clicked, coalesce(sum(delivered), 0)::int as delivered,
		coalesce(sum(bounced), 0)::int as bounced
	from ${counted(`slot > $since::timestamptz - interval '15 minutes'
		and slot <= coalesce($until::timestamptz, 'infinity')`)}`,
})

/**
 * The first moment of a day. If the clocks skip midnight, that is the moment of the change. If midnight
 * occurs twice, Postgres would choose the second.
 */
const beginning = (day: string) =>
	`(select case when (midnight - interval '1 hour') at time zone $timeZone::text >= ${day}
		then midnight - interval '1 hour' else midnight end
	from (select (${day})::timestamp at time zone $timeZone::text as midnight))`
const isWithin = (at: string) =>
	`${at} >= ${beginning('$firstDay::date')} and ${at} < ${beginning('$lastDay::date + 1')}`

/** All campaigns of the project at once: there are few rows, and a look-up for each would cost more. */
const mailsOfCampaigns = `(
		select campaign_id, ${sums('sent', 'delivered', 'opened', 'clicked', 'bounced')} from (
			select campaign_id, sent, delivered, opened, clicked, bounced from campaign_counts
			where project_id = $projectId
			union all
			select campaign_id, sent, delivered, opened, clicked, bounced from campaign_tallies
			where project_id = $projectId
		) counted group by campaign_id
	)`

/** Campaigns whose sending began on these days. */
export const topCampaigns = statement('top-campaigns', {
	params: {
		projectId: uuid,
		firstDay: date,
		lastDay: date,
		timeZone: text,
		metric: text,
		limit: int,
	},
	row: { id: uuid, name: text, subject: text, sentCount: int, openedCount: int, clickedCount: int },
	text: `select k.id, k.name, k.subject, coalesce(n.sent, 0) as "sentCount",
		coalesce(n.opened, 0) as "openedCount", coalesce(n.clicked, 0) as "clickedCount"
	from campaigns k left join ${mailsOfCampaigns} n on n.campaign_id = k.id
	where k.project_id = $projectId and k.deleted_at is null and ${isWithin('k.started_at')}
	order by case $metric::text when 'opened' then n.opened when 'clicked' then n.clicked
		else n.sent end
		desc nulls last, n.sent desc nulls last, k.id desc
	limit $limit::int`,
})

/** Campaigns created on these days. Rates are averages over the campaigns that have sent mail. */
export const campaignFigures = statement('campaign-figures', {
	params: { projectId: uuid, firstDay: date, lastDay: date, timeZone: text },
	row: { total: int, active: int, completed: int, averageOpenRate: float, averageClickRate: float },
	text: `select count(*)::int as total,
		count(*) filter (where status in ('DRAFT', 'SCHEDULED', 'SENDING'))::int as active,
		count(*) filter (where status = 'SENT')::int as completed,
		coalesce(avg(100.0 * n.opened / nullif(n.sent, 0)), 0)::float8 as "averageOpenRate",
		coalesce(avg(100.0 * n.clicked / nullif(n.sent, 0)), 0)::float8 as "averageClickRate"
	from campaigns k left join ${mailsOfCampaigns} n on n.campaign_id = k.id
	where k.project_id = $projectId and k.deleted_at is null and ${isWithin('k.created_at')}`,
})

/** The same campaigns one by one, newest first. */
export const campaignRows = statement('campaign-rows', {
	params: { projectId: uuid, firstDay: date, lastDay: date, timeZone: text, limit: int },
	row: {
		id: uuid,
		name: text,
		status: text.of<Campaign['status']>(),
		sentCount: int,
		deliveredCount: int,
		openedCount: int,
		clickedCount: int,
		bouncedCount: int,
	},
	text: `select k.id, k.name, k.status, coalesce(n.sent, 0) as "sentCount",
		coalesce(n.delivered, 0) as "deliveredCount", coalesce(n.opened, 0) as "openedCount",
		coalesce(n.clicked, 0) as "clickedCount", coalesce(n.bounced, 0) as "bouncedCount"
	from campaigns k left join ${mailsOfCampaigns} n on n.campaign_id = k.id
	where k.project_id = $projectId and k.deleted_at is null and ${isWithin('k.created_at')}
	order by k.id desc limit $limit::int`,
})

const isCustom = `${isTriggered} and name !~ '^segment\\.[^.]+\\.(entry|exit)$'`
const eventsBetween = (first: string, last: string, wanted: string) =>
	eventCounts(beginning(first), `(${beginning(`${last} + 1`)} - interval '1 ms')`, wanted)

/** The most frequent custom events of these days. */
export const topEvents = statement('top-events', {
	params: { projectId: uuid, firstDay: date, lastDay: date, timeZone: text, limit: int },
	row: {
		name: text,
		count: float,
		/** Their number in the same number of days before. */
		before: float,
	},
	text: `with top as (
		select name, count from (${eventsBetween('$firstDay::date', '$lastDay::date', isCustom)}) named
		order by count desc, name limit $limit::int
	), before as (
		${eventsBetween(
			'($firstDay::date - ($lastDay::date - $firstDay::date + 1))',
			'($firstDay::date - 1)',
			'name in (select name from top)',
		)}
	)
	select top.name, top.count, coalesce(before.count, 0) as before
	from top left join before on before.name = top.name
	order by top.count desc, top.name`,
})
