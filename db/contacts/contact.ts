import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'

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
		{
			name: 'contacts_search',
			expression: 'create index contacts_search on contacts using gin (email gin_trgm_ops)',
		},
		{
			// Summarized by vacuum, which comes soon: asked for page by page, each import would fill the log.
			name: 'contacts_written',
			expression:
				'create index contacts_written on contacts using brin (updated_at) with (pages_per_range = 2, autosummarize = off)',
		},
	],
	properties: {
		id: id(),
		projectId: projectId(),
		/** Trimmed and lower-cased before it comes here. */
		email: p.text(),
		subscribed: p.boolean(),
		data: p.json<ContactData>().defaultRaw(`'{}'`),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Contact extends schema.class {}
schema.setClass(Contact)
