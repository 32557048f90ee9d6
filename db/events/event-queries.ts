import type { Pool } from 'pg'
import { sizedColumns } from '../sorted-list.ts'
import { bool, float, int, json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { sizeOfJson } from '../stored-json.ts'
import { transaction } from '../transaction.ts'
import { isTriggered, lastId } from './event.ts'
import { hasTooManyNames, namesOfContact } from './names-of-contact.ts'
import { newestNamed, newestSentMails } from './newest-events.ts'
import { eventRowColumns } from './tracking.ts'

const columns = `e.id, e.name, event_data(e.name, e.data, e.project_id, e.email_id)::text as data, e.contact_id as "contactId", e.email_id as "emailId",
	e.created_at as "createdAt"`
/**
 * The size of its data is taken from its stored form without decompressing it; compressed data may be the
 * 64 KB that are allowed.
 */
const listed = `e.id, ${sizeOfJson('e.data')} as bytes`

const columnsListed = 'id, data, created_at'

/** Reads the primary keys from their ends, and the ledger only as far back as the events that it found. */
export const latestEvents = statement('latest-events', {
	params: { projectId: uuid, limit: int },
	row: sizedColumns,
	text: `with stored as materialized (
		select ${columnsListed} from events where project_id = $projectId order by id desc limit $limit::int
	)
	select ${listed} from (
		select * from stored
		union all
		select ${columnsListed} from ${newestSentMails('$limit::int')}
	) e order by e.created_at desc, e.id desc limit $limit::int`,
})

export const latestEventsNamed = statement('latest-events-named', {
	params: { projectId: uuid, limit: int, eventName: text },
	row: sizedColumns,
	text: `select ${listed} from (
		${newestNamed('$eventName::text', columnsListed, '$limit::int')}
	) e order by e.created_at desc, e.id desc limit $limit::int`,
})

const eventsOfContact = (condition: string) =>
	`select ${columnsListed} from events e
			where e.project_id = $projectId and e.contact_id = $contactId::uuid and ${condition}
				and e.created_at <= coalesce($before::timestamptz, 'infinity')
				and ($before::timestamptz is null or (e.created_at, e.id) < ($before::timestamptz,
					$beforeId::uuid))
			order by e.created_at desc, e.id desc limit $limit::int`

/** Takes the latest of each name, unless there are too many names. */
export const latestEventsOfContact = statement('latest-events-of-contact', {
	params: {
		projectId: uuid,
		limit: int,
		contactId: uuid,
		before: timestamp.orNull,
		beforeId: uuid.orNull,
	},
	row: { ...sizedColumns, at: timestamp },
	text: `with recursive ${namesOfContact}
	select ${listed}, e.created_at as at from (
		select latest.* from stepped cross join lateral (
			${eventsOfContact('e.name = stepped.name')}
		) latest where not ${hasTooManyNames}
		union all
		(${eventsOfContact(hasTooManyNames)})
		union all
		select ${columnsListed} from newest_sent_mails_to($projectId, $contactId, '-infinity', coalesce($before, 'infinity'),
			coalesce($beforeId, '${lastId}'), $limit)
	) e
	order by e.created_at desc, e.id desc limit $limit::int`,
})

/** In order of the ids. */
export const eventsOfPage = statement('events-of-page', {
	params: { projectId: uuid, eventIds: uuid.array },
	row: { ...eventRowColumns, contact: json<{ id: string; email: string }>().orNull },
	text: `select ${columns},
		case when c.id is not null then json_build_object('id', c.id, 'email', c.email) end as contact
	from unnest($eventIds::uuid[]) with ordinality as listed(id, place)
	cross join lateral (
		select id, project_id, name, data, contact_id, email_id, created_at from events
		where project_id = $projectId and id = listed.id
		union all
		select id, project_id, 'email.sent', '{}', contact_id, id, sent_at from emails
		where project_id = $projectId and id = listed.id and is_sent_event
	) e
	left join contacts c on c.project_id = e.project_id and c.id = e.contact_id
	order by place`,
})

/** Users choose among far fewer, but a caller who may track events can give each one a new name. */
export const mostNames = 10_000

/** By count, most frequent first. */
export const eventNames = statement('event-names', {
	params: { projectId: uuid },
	row: { name: text },
	text: `select name from counted_events($projectId) t group by name having sum(count) > 0
		order by sum(count) desc, name
	limit ${mostNames}`,
})

/**
 * The counts by name between two times, either of which may be null. Whole days come from the tallies;
 * events of the two partial days are counted in the index. Times and names may be any SQL.
 */
export const eventCounts = (start: string, end: string, wanted = 'true') =>
	`with days as (
		select name, day, sum(count) as count, day::timestamp at time zone 'UTC' as begins,
			(day + 1)::timestamp at time zone 'UTC' as ends
		from counted_events($projectId) t
		where day >= coalesce((${start} at time zone 'UTC')::date, '-infinity')
			and day <= coalesce((${end} at time zone 'UTC')::date, 'infinity') and ${wanted}
		group by name, day having sum(count) > 0
	), counted as (
		select name, case
			when coalesce(${start}, '-infinity') <= begins
				and coalesce(${end}, 'infinity') >= ends - interval '1 ms' then count
			else (select count(*) from events e where e.project_id = $projectId and e.name = days.name
				and e.created_at >= greatest(begins, ${start})
				and e.created_at < ends and e.created_at <= coalesce(${end}, 'infinity'))
				+ case name when 'email.sent' then (select count(*) from sent_mails($projectId,
					greatest(begins, ${start}), least(ends - interval '1 ms', ${end}))) else 0 end
			end as count
		from days
	)
	select name, sum(count)::float8 as count from counted
	group by name having sum(count) > 0`

/** For the most frequent names, in order of frequency. */
export const commonestEvents = statement('commonest-events', {
	params: { projectId: uuid, since: timestamp.orNull, until: timestamp.orNull },
	row: { name: text, count: float },
	text: `${eventCounts('$since::timestamptz', '$until::timestamptz')} order by sum(count) desc, name limit ${mostNames}`,
})

/**
 * Whole days come from the tallies here, too. Events that appear in the feed as themselves are counted together, as
 * `event.triggered`, however many names they have.
 */
export const eventSums = statement('event-sums', {
	params: { projectId: uuid, since: timestamp, until: timestamp.orNull },
	row: { name: text, count: float },
	text: `with days as (
		select case when ${isTriggered} then 'event.triggered' else name end as kind, day, sum(count) as count,
			greatest(day::timestamp at time zone 'UTC', $since) as since,
			least((day + 1)::timestamp at time zone 'UTC' - interval '1 ms', $until) as until,
			day::timestamp at time zone 'UTC' >= $since::timestamptz
				and (day + 1)::timestamp at time zone 'UTC' - interval '1 ms' <= coalesce($until::timestamptz, 'infinity') as is_whole
		from counted_events($projectId) t
		where day >= ($since at time zone 'UTC')::date and day <= coalesce(($until at time zone 'UTC')::date, 'infinity')
		group by kind, day having sum(count) > 0
	)
	select kind as name, sum(case
		when is_whole then count
		when kind = 'event.triggered' then (
			select count(*) from events where project_id = $projectId and ${isTriggered}
				and created_at >= days.since and created_at <= days.until)
		else (
			select count(*) from events where project_id = $projectId and name = days.kind
				and created_at >= days.since and created_at <= days.until)
			+ case kind when 'email.sent' then (
				select count(*) from sent_mails($projectId, days.since, days.until)) else 0 end
		end)::float8 as count
	from days group by kind`,
})

export const eventTotals = statement('event-totals', {
	params: { projectId: uuid, eventName: text },
	row: { totalCount: float, uniqueContacts: float },
	text: `select
		(select coalesce(sum(count), 0)::float8 from counted_events($projectId) t
			where name = $eventName) as "totalCount",
		(select count(distinct contact_id)::float8 from (
			select contact_id from events where project_id = $projectId and name = $eventName
			union all
			select contact_id from sent_mails($projectId, '-infinity', 'infinity') where $eventName = 'email.sent'
		) happened) as "uniqueContacts"`,
})

/**
 * Deletes about this many events of a name: those of several partitions may have the same place. Events that arrive
 * meanwhile stay.
 */
export const deleteEvents = statement('delete-events', {
	params: { projectId: uuid, eventName: text, askedAt: timestamp, limit: int },
	row: { deleted: int },
	text: `with gone as (
		delete from events where project_id = $projectId and name = $eventName
			and created_at <= $askedAt::timestamptz and ctid = any(array(
			select ctid from events where project_id = $projectId and name = $eventName
				and created_at <= $askedAt
			limit $limit::int))
		returning 1
	)
	select count(*)::int as deleted from gone`,
})

const holdCounts = statement('hold-event-counts', {
	params: { projectId: uuid, eventName: text },
	row: { isHeld: bool },
	text: `select pg_advisory_xact_lock(hashtextextended('deleted events ' || $eventName::text || ' of ' || id, 0)) is not null as "isHeld"
	from projects where id = $projectId for key share`,
})

const uncountRemoved = statement('uncount-removed-events', {
	params: { projectId: uuid, eventName: text, askedAt: timestamp },
	text: `insert into event_tallies (project_id, name, day, count)
	select $projectId, $eventName::text, day, coalesce(kept.count, 0) - counted.count
	from (
		select day, sum(count) as count from counted_events($projectId) t
		where name = $eventName and day <= ($askedAt::timestamptz at time zone 'UTC')::date
		group by day
	) counted left join (
		select (created_at at time zone 'UTC')::date as day, count(*) as count
		from events where project_id = $projectId and name = $eventName group by 1
	) kept using (day)
	where counted.count > coalesce(kept.count, 0)`,
})

/**
 * Subtracts what is still counted after a deletion: events of months that the ledger has removed. They would keep their
 * name in lists for ever. Events that arrived meanwhile stay counted. Deletions of one name take turns, because two at
 * once would both subtract the same count. A project that is deleted meanwhile has no counts.
 */
export const forgetCounts = (
	pool: Pool,
	deleted: { projectId: string; eventName: string; askedAt: Date },
) =>
	transaction(pool, async (db) => {
		const [project] = await holdCounts(db, deleted)
		if (project) await uncountRemoved(db, deleted)
	})
