import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'
import { reference } from '../reference.ts'

export type ContactData = Record<string, unknown>

const schema = defineEntity({
	name: 'Contact',
	tableName: 'contacts',
	uniques: [
		{ properties: ['projectId', 'email'], include: ['subscribed', 'id'] },
		{ properties: ['projectId', 'id'] },
	],
	indexes: [
		{
			name: 'contacts_newest',
			properties: ['projectId', 'subscribed', 'createdAt', 'id'],
			include: ['email'],
		},
		// All contacts in the order in which they are stored: a query that reads them all looks up each page of the
		// visibility map once. In another order it looks one up for every contact, which takes twice as long.
		{
			name: 'contacts_all',
			properties: ['projectId', 'id'],
			include: ['email', 'subscribed'],
		},
		{
			name: 'contacts_search',
			expression: 'create index contacts_search on contacts using gin (email gin_trgm_ops)',
		},
		{
			// Summarised by vacuum, which runs often enough. Autosummarize would fill the log at each import.
			name: 'contacts_written',
			expression:
				'create index contacts_written on contacts using brin (updated_at) with (pages_per_range = 2)',
		},
	],
	properties: {
		id: id(),
		projectId: projectId(),
		/** Trimmed and lower-cased by the callers. */
		email: p.text(),
		subscribed: p.boolean(),
		/**
		 * When they were last unsubscribed one by one: by themselves, a request, a step or a report. Also if they were
		 * unsubscribed already; null once they are subscribed so. Jobs for many leave it, and honour it.
		 */
		refusedAt: p.datetime(3).nullable(),
		data: p.json<ContactData>().defaultRaw(`'{}'`),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Contact extends schema.class {
	static references = [reference(['projectId'], 'projects', 'cascade', { isEnforced: false })]
	static storage = [
		'set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.02)',
	]
}
schema.setClass(Contact)
