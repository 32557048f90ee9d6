import { isTriggered } from '../events/event.ts'
import { hasTooManyNames, namesOfContact } from '../events/names-of-contact.ts'
import { bool, int, type RowOf, storedJson, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { entryTypes } from './feed-entry.ts'

/** Events with a type of their own in the feed; all others appear as `event.triggered`. */
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

/** The sources of some item types, in the form that the statements below expect. */
export const sourcesOf = (types: FeedType[]) => ({
	names: eventNames.filter((name) => types.includes(typesOfEvents[name])),
	triggered: types.includes('event.triggered'),
	entries: entryTypes.filter((type) => types.includes(type)),
})

const feedItemColumns = {
	id: uuid,
	type: text.of<FeedType>(),
	timestamp: timestamp,
	contactId: uuid.orNull,
	contactEmail: text.orNull,
	metadata: storedJson,
}
export type FeedItem = RowOf<typeof feedItemColumns>

const isWanted = `(name = any($eventNames::text[]) or $others::bool and ${isTriggered})`

/** The newest ones since `$since`, before the last item of the previous page. */
const newest = (at: string) => `${at} >= $since::timestamptz and ${at} <= $before::timestamptz
	and (${at}, id) < ($before::timestamptz, $beforeId::uuid) order by ${at} desc, id desc
		limit $limit::int`

const columnsOfEvents = `id, name, created_at as at, contact_id, email_id, data`
const columnsOfEntries = `id, type, at, contact_id, email_id, metadata`
const eventsWhere = (condition: string) =>
	`select ${columnsOfEvents} from events where project_id = $projectId and ${condition}
		and ${newest('created_at')}`
const sentMails = (newestOf: string, since: string) =>
	`select ${columnsOfEvents} from ${newestOf}, ${since}, $before, $beforeId, $limit)
		where 'email.sent' = any($eventNames::text[])`
const entriesWhere = (condition: string) =>
	`select ${columnsOfEntries} from feed_entries where project_id = $projectId and ${condition}
		and ${newest('at')}`

const typeInSql = `case name ${eventNames
	.map((name) => `when '${name}' then '${typesOfEvents[name]}'`)
	.join(' ')} else 'event.triggered' end`
const metadataOfEvent = `case
	when name like 'email.%' then event_data(name, data, $projectId, email_id)
	when ${isTriggered} then jsonb_build_object('eventName', name, 'data', data)
	else jsonb_strip_nulls(jsonb_build_object('emailId', email_id)) end`
const metadataOfMail = `jsonb_strip_nulls(jsonb_build_object('emailId', m.id, 'subject', coalesce(m.subject, k.subject),
	'from', coalesce(m."from", k."from"), 'fromName', coalesce(m.from_name, k.from_name),
	'sourceType', source_of_mail(m.source_type), 'templateId', coalesce(m.template_id, k.template_id),
	'campaignId', m.campaign_id, 'executionId', m.workflow_execution_id, 'error', m.error))`

/**
 * The items of the lists `happened` and `entered`, merged. A mail's details come from its current ledger
 * row. Contacts and mails are looked up one by one, whatever the planner assumes about a new project.
 */
const merged = `page as (
		select id, ${typeInSql} as type, at, contact_id, null::uuid as mail_id,
			${metadataOfEvent} as metadata
		from happened
		union all
		select id, type, at, contact_id, email_id, metadata from entered
		order by at desc, id desc limit $limit::int
	)
	select p.id, p.type, p.at as timestamp, c.id as "contactId", c.email as "contactEmail",
		(p.metadata || case when m.id is null then '{}' else ${metadataOfMail} end)::text as metadata
	from page p
	left join lateral (
		select id, email from contacts where project_id = $projectId and id = p.contact_id offset 0) c on true
	left join lateral (
		select * from emails where project_id = $projectId and id = p.mail_id offset 0) m on true
	left join lateral left_to_campaign($projectId, m.campaign_id, m."from") k on true
	order by p.at desc, p.id desc`

/**
 * The newest items of each source, each by an index, and the newest among these. The ledger is read last, and only as
 * far back as the page goes without it: see db/events/newest-events.ts.
 */
export const feedPage = statement('feed-page', {
	params: {
		projectId: uuid,
		eventNames: text.array,
		others: bool,
		entryTypes: text.array,
		since: timestamp,
		before: timestamp,
		beforeId: uuid,
		limit: int,
	},
	row: feedItemColumns,
	text: `with stored as materialized (
		select e.* from unnest($eventNames::text[]) as wanted(name)
		cross join lateral (${eventsWhere('name = wanted.name')}) e
		union all
		(${eventsWhere(`${isTriggered} and $others::bool`)})
	), entered as materialized (
		select e.* from unnest($entryTypes::text[]) as wanted(type)
		cross join lateral (${entriesWhere('type = wanted.type')}) e
	), last as (
		select at from (select at from stored union all select at from entered) others
		order by at desc offset $limit::int - 1 limit 1
	), happened as (
		select * from stored
		union all
		${sentMails('newest_sent_mails($projectId', 'greatest($since, (select at from last))')}
	), ${merged}`,
})

const wantedNames = `wanted as (
		select name from stepped where ${isWanted} and not ${hasTooManyNames}
	)`

/** The same for one contact. */
export const feedPageOfContact = statement('feed-page-of-contact', {
	params: {
		projectId: uuid,
		eventNames: text.array,
		others: bool,
		entryTypes: text.array,
		since: timestamp,
		before: timestamp,
		beforeId: uuid,
		limit: int,
		contactId: uuid,
	},
	row: feedItemColumns,
	text: `with recursive ${namesOfContact}, ${wantedNames}, happened as (
		select e.* from wanted
		cross join lateral (${eventsWhere('contact_id = $contactId::uuid and name = wanted.name')}) e
		union all
		(${eventsWhere(`contact_id = $contactId::uuid and ${isWanted} and ${hasTooManyNames}`)})
		union all
		${sentMails('newest_sent_mails_to($projectId, $contactId', '$since')}
	), entered as (
		select e.* from unnest($entryTypes::text[]) as wanted(type)
		cross join lateral (${entriesWhere('contact_id = $contactId::uuid and type = wanted.type')}) e
	), ${merged}`,
})

const between = (at: string) =>
	`${at} >= $since::timestamptz and ${at} <= coalesce($until::timestamptz, 'infinity')`

/** The number of items of one contact. */
export const countFeedOfContact = statement('count-feed-of-contact', {
	params: {
		projectId: uuid,
		eventNames: text.array,
		others: bool,
		entryTypes: text.array,
		since: timestamp,
		until: timestamp.orNull,
		contactId: uuid,
	},
	row: { total: int },
	text: `with recursive ${namesOfContact}, ${wantedNames}
	select (
		(select coalesce(sum(counted.count), 0) from wanted cross join lateral (
			select count(*) from events e where e.project_id = $projectId
				and e.contact_id = $contactId::uuid
				and e.name = wanted.name and ${between('e.created_at')}) counted)
		+ (select count(*) from events where project_id = $projectId and contact_id = $contactId::uuid
			and ${isWanted} and ${between('created_at')} and ${hasTooManyNames})
		+ (select count(*) from sent_mails_to($projectId, $contactId, $since, coalesce($until, 'infinity'))
			where 'email.sent' = any($eventNames))
		+ (select count(*) from feed_entries where project_id = $projectId
			and contact_id = $contactId::uuid
			and type = any($entryTypes::text[]) and ${between('at')})
	)::int as total`,
})

export const countEntries = statement('count-feed-entries', {
	params: { projectId: uuid, entryTypes: text.array, since: timestamp, until: timestamp.orNull },
	row: { total: int },
	text: `select count(*)::int as total from feed_entries
	where project_id = $projectId and type = any($entryTypes::text[])
		and at >= $since::timestamptz and at <= coalesce($until::timestamptz, 'infinity')`,
})
