import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { fewPerContact, fewPerContactInAll } from '../contacts/few-per-contact.ts'
import type { Partitions } from '../partitions.ts'
import { reference } from '../reference.ts'

/**
 * Whether an event appears in the feed as itself. Events of mails and subscriptions have types of their
 * own there.
 */
export const isTriggered = `name not like 'email.%' and name not in ('contact.subscribed', 'contact.unsubscribed')`

/** No event comes after the one with this id. */
export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Something that happened. That a mail was sent is usually recorded only in the ledger: see
 * db/events/sent-mails.sql. Triggers count every insert and delete (db/events/event-tally.ts), so any
 * statement may change the rows.
 */
const schema = defineEntity({
	name: 'Event',
	tableName: 'events',
	indexes: [
		{ name: 'events_contact', properties: ['contactId', 'name', 'createdAt'] },
		// Includes the contact, so "which contacts did this since then" is answered from the index alone.
		{ name: 'events_name', properties: ['projectId', 'name', 'createdAt', 'contactId'] },
		// For erasing: events without a contact, by their mail.
		{
			name: 'events_of_nobody',
			properties: ['projectId', 'emailId'],
			where: 'contact_id is null and email_id is not null',
		},
		// Custom names, in order of time. The other names are few, and the index above has each in that order.
		{
			name: 'events_triggered',
			expression: (columns, table, name) =>
				`create index ${name} on ${table.name} (${columns.projectId}, ${columns.createdAt}, ${columns.id}) where ${isTriggered}`,
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		/** In order of time: a project's latest events are at the end of the primary key. */
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		name: p.text(),
		data: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
		contactId: p.uuid().nullable(),
		emailId: p.uuid().nullable(),
		// The actual time, not the transaction's start: an event that waited for a contact's lock comes after
		// the event that held it.
		createdAt: p.datetime(3).defaultRaw('clock_timestamp()'),
	},
})

export class Event extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [
		reference(['projectId'], 'projects', 'cascade', { isEnforced: false }),
		reference(['projectId', 'contactId'], 'contacts', 'set null', { isEnforced: false }),
	]
	static partitions: Partitions = { by: 'id', storage: [fewPerContact] }
	static storage = [fewPerContactInAll]
}
schema.setClass(Event)
