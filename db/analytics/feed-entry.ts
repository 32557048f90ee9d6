import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'
import { int } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** Feed entries that are not events. Other rows would only show the current state. */
export const entryTypes = [
	'email.failed',
	'campaign.sent',
	'campaign.scheduled',
	'workflow.started',
	'workflow.completed',
	'workflow.email.scheduled',
] as const

/** Written by triggers on mails, campaigns and executions, whichever statement changes them. */
const schema = defineEntity({
	name: 'FeedEntry',
	tableName: 'feed_entries',
	indexes: [
		{
			name: 'feed_entries_contact',
			properties: ['projectId', 'contactId', 'type', 'at', 'id'],
			where: 'contact_id is not null',
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		type: p.enum(entryTypes).primary(),
		at: p.datetime(3).primary().defaultRaw('now()'),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		contactId: p.uuid().nullable(),
		/** The ledger has the mail's details. */
		emailId: p.uuid().nullable(),
		/** The names of campaigns and workflows at that time. */
		metadata: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
	},
})

export class FeedEntry extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'type', 'at', 'id']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'contactId'], 'contacts', 'set null'),
	]
}
schema.setClass(FeedEntry)

/**
 * Entries about mails, by months that ended this many days ago, as the ledger removes the mails. Those of one type are
 * read in the order of the primary key. The other entries stay, as campaigns and executions do.
 */
export const removeEntriesOfOldMails = statement('remove-feed-entries-of-old-mails', {
	params: { limit: int, days: int },
	row: { removed: int },
	text: `with due as materialized (
		select e.* from projects p cross join unnest('{email.failed,workflow.email.scheduled}'::text[]) t(type)
		cross join lateral (
			select f.project_id, f.type, f.at, f.id from feed_entries f
			where f.project_id = p.id and f.type = t.type
				and f.at < date_trunc('month', now() - make_interval(days => $days::int), 'UTC')
			order by f.at, f.id limit $limit::int for update skip locked) e
		limit $limit::int
	), gone as (
		delete from feed_entries f using due
		where f.project_id = due.project_id and f.type = due.type and f.at = due.at and f.id = due.id returning 1
	)
	select count(*)::int as removed from gone`,
})
