import { isTriggered } from '../events/event.ts'
import { statement } from '../statement.ts'
import { entryTypes } from './feed-entry.ts'

/** Events that have a type of their own in the feed; all others are told as `event.triggered`. */
const typesOfEvents = {
	'email.sent': 'email.sent',
	'email.delivery': 'email.delivered',
	'email.received': 'email.received',
	'email.open': 'email.opened',
	'email.click': 'email.clicked',
	'email.bounce': 'email.bounced',
	'email.complaint': 'email.complaint',
	'contact.subscribed': 'contact.subscribed',
	'contact.unsubscribed': 'contact.unsubscribed',
} as const
type EventName = keyof typeof typesOfEvents
const eventNames = Object.keys(typesOfEvents) as EventName[]

export type FeedType =
	| 'event.triggered'
	| (typeof typesOfEvents)[EventName]
	| (typeof entryTypes)[number]

export const feedTypes: FeedType[] = [
	'event.triggered',
	...Object.values(typesOfEvents),
	...entryTypes,
]

/** Where items of some types come from: parameters $2 to $4 of the statements below. */
export const sourcesOf = (types: FeedType[]) => ({
	names: eventNames.filter((name) => types.includes(typesOfEvents[name])),
	triggered: types.includes('event.triggered'),
	entries: entryTypes.filter((type) => types.includes(type)),
})

/** What an event is told as. */
export const typeOfEvent = (name: string): FeedType =>
	Object.hasOwn(typesOfEvents, name) ? typesOfEvents[name as EventName] : 'event.triggered'

export interface FeedItem {
	id: string
	type: FeedType
	timestamp: Date
	contactId: string | null
	contactEmail: string | null
	metadata: Record<string, unknown>
}

const isWanted = `(name = any($2::text[]) or $3::bool and ${isTriggered})`

/** From $5 on, and before the item at $6 with the id $7; the newest $8 of them. */
const newest = (at: string) => `${at} >= $5::timestamptz and ${at} <= $6::timestamptz
	and (${at}, id) < ($6::timestamptz, $7::uuid) order by ${at} desc, id desc limit $8::int`

const columnsOfEvents = `id, name, created_at as at, contact_id, email_id, data`
const columnsOfEntries = `id, type, at, contact_id, email_id, metadata`
const eventsWhere = (condition: string) =>
	`select ${columnsOfEvents} from events where project_id = $1 and ${condition} and ${newest('created_at')}`
const entriesWhere = (condition: string) =>
	`select ${columnsOfEntries} from feed_entries where project_id = $1 and ${condition} and ${newest('at')}`

const typeInSql = `case name ${eventNames
	.map((name) => `when '${name}' then '${typesOfEvents[name]}'`)
	.join(' ')} else 'event.triggered' end`
const metadataOfEvent = `case
	when name like 'email.%' then data
	when ${isTriggered} then jsonb_build_object('eventName', name, 'data', data)
	else jsonb_strip_nulls(jsonb_build_object('emailId', email_id)) end`
const metadataOfMail = `jsonb_strip_nulls(jsonb_build_object('emailId', m.id, 'subject', m.subject,
	'from', m."from", 'fromName', m.from_name, 'sourceType', m.source_type, 'templateId', m.template_id,
	'campaignId', m.campaign_id, 'executionId', m.workflow_execution_id, 'error', m.error))`

/** The items of the lists `happened` and `entered`, merged; of a mail is told what the ledger says now. */
const merged = `page as (
		select id, ${typeInSql} as type, at, contact_id, null::uuid as mail_id,
			${metadataOfEvent} as metadata
		from happened
		union all
		select id, type, at, contact_id, email_id, metadata from entered
		order by at desc, id desc limit $8::int
	)
	select p.id, p.type, p.at as timestamp, c.id as "contactId", c.email as "contactEmail",
		p.metadata || case when m.id is null then '{}' else ${metadataOfMail} end as metadata
	from page p
	left join contacts c on c.project_id = $1 and c.id = p.contact_id
	left join emails m on m.project_id = $1 and m.id = p.mail_id
	order by p.at desc, p.id desc`

/**
 * The newest of each source, each in the order of an index, and of these the newest. $1 project,
 * $2 names of events, $3 whether all others, too, $4 types of entries, $5 since, $6 and $7 where the page
 * before has ended, $8 limit
 */
export const feedPage = statement<FeedItem>(
	'feed-page',
	`with happened as (
		select e.* from unnest($2::text[]) as wanted(name)
		cross join lateral (${eventsWhere('name = wanted.name')}) e
		union all
		(${eventsWhere(`${isTriggered} and $3::bool`)})
	), entered as (
		select e.* from unnest($4::text[]) as wanted(type)
		cross join lateral (${entriesWhere('type = wanted.type')}) e
	), ${merged}`,
)

/** From name to name of a contact's events, as db/events/event-queries.ts does. */
const namesOfContact = (contact: string) => `names as (
		(select name from events where project_id = $1 and contact_id = ${contact}::uuid
			order by name limit 1)
		union all
		select (select e.name from events e where e.project_id = $1 and e.contact_id = ${contact}::uuid
			and e.name > names.name order by e.name limit 1)
		from names where names.name is not null
	), wanted as (
		select name from names where ${isWanted}
	)`

/** The same of one contact, $9 */
export const feedPageOfContact = statement<FeedItem>(
	'feed-page-of-contact',
	`with recursive ${namesOfContact('$9')}, happened as (
		select e.* from wanted
		cross join lateral (${eventsWhere('contact_id = $9::uuid and name = wanted.name')}) e
	), entered as (
		select e.* from unnest($4::text[]) as wanted(type)
		cross join lateral (${entriesWhere('contact_id = $9::uuid and type = wanted.type')}) e
	), ${merged}`,
)

const between = (at: string) =>
	`${at} >= $5::timestamptz and ${at} <= coalesce($6::timestamptz, 'infinity')`

/** How many of one contact. $1 to $4 as above, $5 since, $6 until or null, $7 contact */
export const countFeedOfContact = statement<{ total: number }>(
	'count-feed-of-contact',
	`with recursive ${namesOfContact('$7')}
	select (
		(select coalesce(sum(counted.count), 0) from wanted cross join lateral (
			select count(*) from events e where e.project_id = $1 and e.contact_id = $7::uuid
				and e.name = wanted.name and ${between('e.created_at')}) counted)
		+ (select count(*) from feed_entries where project_id = $1 and contact_id = $7::uuid
			and type = any($4::text[]) and ${between('at')})
	)::int as total`,
)

/** $1 project, $2 types, $3 since, $4 until or null */
export const countEntries = statement<{ total: number }>(
	'count-feed-entries',
	`select count(*)::int as total from feed_entries
	where project_id = $1 and type = any($2::text[])
		and at >= $3::timestamptz and at <= coalesce($4::timestamptz, 'infinity')`,
)
