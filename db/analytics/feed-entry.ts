import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/** What the feed tells besides events, of which other rows would only know how things stand now. */
export const entryTypes = [
	'email.failed',
	'campaign.sent',
	'campaign.scheduled',
	'workflow.started',
	'workflow.completed',
	'workflow.email.scheduled',
] as const

/** Written by triggers on mails, campaigns and executions, by whatever statement they change. */
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
		/** What is told of the mail is in the ledger. */
		emailId: p.uuid().nullable(),
		/** Of campaigns and workflows, as they were called then. */
		metadata: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
	},
})

export class FeedEntry extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'type', 'at', 'id']
}
schema.setClass(FeedEntry)
