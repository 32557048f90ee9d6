import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId } from './columns.ts'

const schema = defineEntity({
	name: 'Event',
	tableName: 'events',
	indexes: [
		{ name: 'events_contact', properties: ['projectId', 'contactId', 'name', 'createdAt'] },
	],
	properties: {
		id: id(),
		projectId: projectId(),
		name: p.text(),
		data: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
		contactId: p.uuid().nullable(),
		emailId: p.uuid().nullable(),
		createdAt: createdAt(),
	},
})

export class Event extends schema.class {}
schema.setClass(Event)
