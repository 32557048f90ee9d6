import type { Sized } from '../sorted-list.ts'
import { statement } from '../statement.ts'
import type { EventRow } from './tracking.ts'

export interface EventWithContact extends EventRow {
	contact: { id: string; email: string } | null
}

const columns = `e.id, e.name, e.data, e.contact_id as "contactId", e.email_id as "emailId",
	e.created_at as "createdAt"`
/** Its data is told from what is stored without unpacking it: packed, it may be the 64 KB that are allowed. */
const listed = `e.id,
	case when pg_column_compression(e.data) is null then pg_column_size(e.data) else 65536 end as bytes`

/** The end of the primary key, backwards. $1 project, $2 limit */
export const latestEvents = statement<Sized>(
	'latest-events',
	`select ${listed} from events e where e.project_id = $1 order by e.id desc limit $2::int`,
)

/** $1 project, $2 limit, $3 name */
export const latestEventsNamed = statement<Sized>(
	'latest-events-named',
	`select ${listed} from events e
	where e.project_id = $1 and e.name = $3 order by e.created_at desc, e.id desc limit $2::int`,
)

/**
 * The index knows a contact's events by name and then by time: we step from name to name and take the
 * latest of each, so that a contact with a million events costs no more than one with a hundred.
 * $1 project, $2 limit, $3 contact, $4 time and $5 id of the last one so far, or null
 */
export const latestEventsOfContact = statement<Sized & { at: Date }>(
	'latest-events-of-contact',
	`with recursive names as (
		(select name from events where project_id = $1 and contact_id = $3::uuid order by name limit 1)
		union all
		select (select e.name from events e where e.project_id = $1 and e.contact_id = $3::uuid
			and e.name > names.name order by e.name limit 1)
		from names where names.name is not null
	)
	select ${listed}, e.created_at as at from names cross join lateral (
		select * from events e
		where e.project_id = $1 and e.contact_id = $3::uuid and e.name = names.name
			and e.created_at <= coalesce($4::timestamptz, 'infinity')
			and ($4::timestamptz is null or (e.created_at, e.id) < ($4::timestamptz, $5::uuid))
		order by e.created_at desc, e.id desc limit $2::int
	) e
	order by e.created_at desc, e.id desc limit $2::int`,
)

/** $1 project, $2 ids, in whose order they come */
export const eventsOfPage = statement<EventWithContact>(
	'events-of-page',
	`select ${columns},
		case when c.id is not null then json_build_object('id', c.id, 'email', c.email) end as contact
	from unnest($2::uuid[]) with ordinality as listed(id, place)
	join events e on e.project_id = $1 and e.id = listed.id
	left join contacts c on c.project_id = e.project_id and c.id = e.contact_id
	order by place`,
)

/** How many events there are, by name and day. $1 project */
export const talliedEvents = `(
	select name, day, count from event_counts where project_id = $1
	union all
	select name, day, count from event_tallies where project_id = $1
) as t`

/** Nobody chooses among more, but who may track events can give each a name of its own. */
export const mostNames = 10_000

/** By count, commonest first. $1 project */
export const eventNames = statement<{ name: string }>(
	'event-names',
	`select name from ${talliedEvents} group by name having sum(count) > 0 order by sum(count) desc, name
	limit ${mostNames}`,
)

/**
 * The counts by name between two moments, either of which may be null. Whole days come from the tallies;
 * of the days at both ends the events are counted, in the index. Moments and names may be any SQL.
 */
export const eventCounts = (start: string, end: string, wanted = 'true') =>
	`with days as (
		select name, day, sum(count) as count, day::timestamp at time zone 'UTC' as begins,
			(day + 1)::timestamp at time zone 'UTC' as ends
		from ${talliedEvents}
		where day >= coalesce((${start} at time zone 'UTC')::date, '-infinity')
			and day <= coalesce((${end} at time zone 'UTC')::date, 'infinity') and ${wanted}
		group by name, day having sum(count) > 0
	), counted as (
		select name, case
			when coalesce(${start}, '-infinity') <= begins
				and coalesce(${end}, 'infinity') >= ends - interval '1 ms' then count
			else (select count(*) from events e where e.project_id = $1 and e.name = days.name
				and e.created_at >= greatest(begins, ${start})
				and e.created_at < ends and e.created_at <= coalesce(${end}, 'infinity'))
			end as count
		from days
	)
	select name, sum(count)::float8 as count from counted
	group by name having sum(count) > 0`

const counts = eventCounts('$2::timestamptz', '$3::timestamptz')

/** Of all names. $1 project, $2 first moment or null, $3 last moment or null */
export const eventStats = statement<{ name: string; count: number }>('event-stats', counts)

/** Of the commonest, these first. $1 project, $2 first moment or null, $3 last moment or null */
export const commonestEvents = statement<{ name: string; count: number }>(
	'commonest-events',
	`${counts} order by sum(count) desc, name limit ${mostNames}`,
)

/** $1 project, $2 name */
export const eventTotals = statement<{ totalCount: number; uniqueContacts: number }>(
	'event-totals',
	`select
		(select coalesce(sum(count), 0)::float8 from ${talliedEvents} where name = $2) as "totalCount",
		(select count(distinct contact_id)::float8 from events where project_id = $1 and name = $2)
			as "uniqueContacts"`,
)

/**
 * Deletes so many of the events of a name; what comes in meanwhile stays.
 * $1 project, $2 name, $3 when the deletion began, $4 how many
 */
export const deleteEvents = statement<{ deleted: number }>(
	'delete-events',
	`with gone as (
		delete from events where project_id = $1 and name = $2 and ctid = any(array(
			select ctid from events where project_id = $1 and name = $2 and created_at <= $3::timestamptz
			limit $4::int))
		returning 1
	)
	select count(*)::int as deleted from gone`,
)
