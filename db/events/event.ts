import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/** Whether an event is told as such: the mails' and the flips' have types of their own in the feed. */
export const isTriggered = `name not like 'email.%' and name not in ('contact.subscribed', 'contact.unsubscribed')`

/**
 * What happened. Every insert is counted (db/events/event-tally.ts), so rows come and go by statements of
 * any kind and the counts stay right.
 */
const schema = defineEntity({
	name: 'Event',
	tableName: 'events',
	indexes: [
		{ name: 'events_contact', properties: ['projectId', 'contactId', 'name', 'createdAt'] },
		// With the contact in it, "who did this since then" is answered from the index alone.
		{ name: 'events_name', properties: ['projectId', 'name', 'createdAt', 'contactId'] },
		// For erasing: by their mail those that are no contact's.
		{
			name: 'events_of_nobody',
			properties: ['projectId', 'emailId'],
			where: 'contact_id is null and email_id is not null',
		},
		// Of any name, in the order of time; the others are few names, of each of which that order is above.
		{
			name: 'events_triggered',
			expression: (columns, table, name) =>
				`create index ${name} on ${table.name} (${columns.projectId}, ${columns.createdAt}, ${columns.id}) where ${isTriggered}`,
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		/** In the order of time: a project's latest events are the end of the primary key. */
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		name: p.text(),
		data: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
		contactId: p.uuid().nullable(),
		emailId: p.uuid().nullable(),
		// By the clock, not by when its transaction began: who waited for a contact's lock comes after the
		// one who had it.
		createdAt: p.datetime(3).defaultRaw('clock_timestamp()'),
	},
})

export class Event extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
}
schema.setClass(Event)
