import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

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
