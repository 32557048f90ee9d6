import type { Campaign } from '../campaigns/campaign.ts'
import { eventCounts } from '../events/event-queries.ts'
import { isTriggered } from '../events/event.ts'
import { statement } from '../statement.ts'

// Questions about days in a time zone. They read what is kept by quarters of an hour, by campaign and
// by day, never mails.

const columns = `sent, delivered, opened, clicked, bounced, sent_opened, sent_clicked`
/** The counts of the slots that a condition on `slot` names. */
const counted = (slots: string) => `(
		select slot, ${columns} from mail_counts where project_id = $1 and ${slots}
		union all
		select slot, ${columns} from mail_tallies where project_id = $1 and ${slots}
	) counted`
const sums = (...names: string[]) => names.map((name) => `sum(${name})::int as ${name}`).join(', ')

export interface DayCounts {
	date: string
	emails: number
	opens: number
	clicks: number
	bounces: number
	delivered: number
}

/** Every day from one to another. $1 project, $2 first day, $3 last day, $4 time zone */
export const timeseries = statement<DayCounts>(
	'timeseries',
	`with counts as (
		select (slot at time zone $4::text)::date as day, ${sums('sent', 'delivered', 'opened', 'clicked', 'bounced')}
		from ${counted(`slot >= ($2::date - 1)::timestamp at time zone 'UTC'
			and slot < ($3::date + 2)::timestamp at time zone 'UTC'`)}
		group by 1
	)
	select to_char(day.day, 'YYYY-MM-DD') as date, coalesce(sent, 0) as emails, coalesce(opened, 0) as opens,
		coalesce(clicked, 0) as clicks, coalesce(bounced, 0) as bounces,
		coalesce(delivered, 0) as delivered
	from generate_series($2::date::timestamp, $3::date::timestamp, '1 day') as day(day)
	left join counts on counts.day = day.day::date
	order by day.day`,
)

/** Mails sent in a time, and how many of them were opened and clicked since; and mails delivered and bounced in it. $1 project, $2 since, $3 until or null */
export const mailTotals = statement<{
	sent: number
	delivered: number
	opened: number
	clicked: number
	bounced: number
}>(
	'mail-totals',
	`select coalesce(sum(sent), 0)::int as sent, coalesce(sum(sent_opened), 0)::int as opened,
		coalesce(sum(sent_clicked), 0)::int as clicked, coalesce(sum(delivered), 0)::int as delivered,
		coalesce(sum(bounced), 0)::int as bounced
	from ${counted(`slot > $2::timestamptz - interval '15 minutes'
		and slot <= coalesce($3::timestamptz, 'infinity')`)}`,
)

/**
 * The first moment of a day. Where the clocks skip midnight, that is when they do; where they come to it
 * twice, Postgres would take the second.
 */
const beginning = (day: string) =>
	`(select case when (midnight - interval '1 hour') at time zone $4::text >= ${day}
		then midnight - interval '1 hour' else midnight end
	from (select (${day})::timestamp at time zone $4::text as midnight))`
const isWithin = (at: string) =>
	`${at} >= ${beginning('$2::date')} and ${at} < ${beginning('$3::date + 1')}`

/** All campaigns of the project at once: there are few rows, and one look for each costs more. */
const mailsOfCampaigns = `(
		select campaign_id, ${sums('sent', 'delivered', 'opened', 'clicked', 'bounced')} from (
			select campaign_id, sent, delivered, opened, clicked, bounced from campaign_counts
			where project_id = $1
			union all
			select campaign_id, sent, delivered, opened, clicked, bounced from campaign_tallies
			where project_id = $1
		) counted group by campaign_id
	)`

export interface TopCampaign {
	id: string
	name: string
	subject: string
	sentCount: number
	openedCount: number
	clickedCount: number
}

/**
 * Campaigns that began to be sent on these days. $1 project, $2 first day, $3 last day, $4 time zone,
 * $5 by which count, $6 limit
 */
export const topCampaigns = statement<TopCampaign>(
	'top-campaigns',
	`select k.id, k.name, k.subject, coalesce(n.sent, 0) as "sentCount",
		coalesce(n.opened, 0) as "openedCount", coalesce(n.clicked, 0) as "clickedCount"
	from campaigns k left join ${mailsOfCampaigns} n on n.campaign_id = k.id
	where k.project_id = $1 and k.deleted_at is null and ${isWithin('k.started_at')}
	order by case $5::text when 'opened' then n.opened when 'clicked' then n.clicked else n.sent end
		desc nulls last, n.sent desc nulls last, k.id desc
	limit $6::int`,
)

export interface CampaignFigures {
	total: number
	active: number
	completed: number
	averageOpenRate: number
	averageClickRate: number
}

/**
 * Campaigns that were created on these days; rates are the means of those of which mails were sent.
 * $1 project, $2 first day, $3 last day, $4 time zone
 */
export const campaignFigures = statement<CampaignFigures>(
	'campaign-figures',
	`select count(*)::int as total,
		count(*) filter (where status in ('DRAFT', 'SCHEDULED', 'SENDING'))::int as active,
		count(*) filter (where status = 'SENT')::int as completed,
		coalesce(avg(100.0 * n.opened / nullif(n.sent, 0)), 0)::float8 as "averageOpenRate",
		coalesce(avg(100.0 * n.clicked / nullif(n.sent, 0)), 0)::float8 as "averageClickRate"
	from campaigns k left join ${mailsOfCampaigns} n on n.campaign_id = k.id
	where k.project_id = $1 and k.deleted_at is null and ${isWithin('k.created_at')}`,
)

export interface CampaignRow {
	id: string
	name: string
	status: Campaign['status']
	sentCount: number
	deliveredCount: number
	openedCount: number
	clickedCount: number
	bouncedCount: number
}

/** The same campaigns one by one, newest first. $1 project, $2 first day, $3 last day, $4 time zone, $5 limit */
export const campaignRows = statement<CampaignRow>(
	'campaign-rows',
	`select k.id, k.name, k.status, coalesce(n.sent, 0) as "sentCount",
		coalesce(n.delivered, 0) as "deliveredCount", coalesce(n.opened, 0) as "openedCount",
		coalesce(n.clicked, 0) as "clickedCount", coalesce(n.bounced, 0) as "bouncedCount"
	from campaigns k left join ${mailsOfCampaigns} n on n.campaign_id = k.id
	where k.project_id = $1 and k.deleted_at is null and ${isWithin('k.created_at')}
	order by k.id desc limit $5::int`,
)

const isCustom = `${isTriggered} and name !~ '^segment\\.[^.]+\\.(entry|exit)$'`
const eventsBetween = (first: string, last: string, wanted: string) =>
	eventCounts(beginning(first), `(${beginning(`${last} + 1`)} - interval '1 ms')`, wanted)

export interface TopEvent {
	name: string
	count: number
	/** How many there were in as many days before. */
	before: number
}

/**
 * The commonest custom events of these days. $1 project, $2 first day, $3 last day, $4 time zone, $5 limit
 */
export const topEvents = statement<TopEvent>(
	'top-events',
	`with top as (
		select name, count from (${eventsBetween('$2::date', '$3::date', isCustom)}) named
		order by count desc, name limit $5::int
	), before as (
		${eventsBetween(
			'($2::date - ($3::date - $2::date + 1))',
			'($2::date - 1)',
			'name in (select name from top)',
		)}
	)
	select top.name, top.count, coalesce(before.count, 0) as before
	from top left join before on before.name = top.name
	order by top.count desc, top.name`,
)
