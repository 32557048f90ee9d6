import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from './columns.ts'

export type ContactData = Record<string, unknown>

const schema = defineEntity({
	name: 'Contact',
	tableName: 'contacts',
	uniques: [{ properties: ['projectId', 'email'] }, { properties: ['projectId', 'id'] }],
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
