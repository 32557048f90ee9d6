import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from './columns.ts'

/**
 * What happened. Every insert is counted (db/event-tally.ts), so rows come and go by statements of
 * any kind and the counts stay right.
 */
const schema = defineEntity({
	name: 'Event',
	tableName: 'events',
	indexes: [
		{ name: 'events_contact', properties: ['projectId', 'contactId', 'name', 'createdAt'] },
		// With the contact in it, "who did this since then" is answered from the index alone.
		{ name: 'events_name', properties: ['projectId', 'name', 'createdAt', 'contactId'] },
	],
	properties: {
		projectId: p.uuid().primary(),
		/** In the order of time: a project's latest events are the end of the primary key. */
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		name: p.text(),
		data: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
		contactId: p.uuid().nullable(),
		emailId: p.uuid().nullable(),
		createdAt: createdAt(),
	},
})

export class Event extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
}
schema.setClass(Event)
