import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

// The custom fields of a project's contacts, with their types and values, kept so that listing them
// doesn't read all contacts. A trigger sums up each statement's changes and appends them to
// contact_field_changes. Now and then one of these statements also folds the project's changes into the
// two other tables. No statement waits for a common row, and the sum of both is always exact, because it
// is part of the contacts' transaction.
//
// The field with the empty name is `subscribed`. Every contact has it, so its count is the number of
// contacts.
//
// For each field and type the 400 to 800 smallest values are kept; a `bound` means that values above it
// are left out. A statement that left values out stores its own bound with its change: values up to the
// lowest bound are counted exactly. Texts of more than 500 characters, objects and arrays are only
// counted, because nobody would pick them from a list.

export const fieldTypes = ['string', 'number', 'boolean', 'date', 'object', 'array'] as const
export type FieldType = (typeof fieldTypes)[number]

const fieldSchema = defineEntity({
	name: 'ContactField',
	tableName: 'contact_fields',
	properties: {
		projectId: p.uuid().primary(),
		key: p.text().primary(),
		type: p.text().primary().$type<FieldType>(),
		count: p.bigint('number'),
		bound: p.json<unknown>().nullable(),
	},
})

export class ContactField extends fieldSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'key', 'type']
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)']
}
fieldSchema.setClass(ContactField)

const valueSchema = defineEntity({
	name: 'ContactFieldValue',
	tableName: 'contact_field_values',
	properties: {
		projectId: p.uuid().primary(),
		key: p.text().primary(),
		type: p.text().primary().$type<FieldType>(),
		value: p.json<unknown>().primary(),
		count: p.bigint('number'),
	},
})

export class ContactFieldValue extends valueSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'key', 'type', 'value']
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)']
}
valueSchema.setClass(ContactFieldValue)

const changeSchema = defineEntity({
	name: 'ContactFieldChange',
	tableName: 'contact_field_changes',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		key: p.text(),
		type: p.text().$type<FieldType>(),
		/** null: a value that is not kept. */
		value: p.json<unknown>().nullable(),
		count: p.bigint('number'),
		bound: p.json<unknown>().nullable(),
	},
})

export class ContactFieldChange extends changeSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [reference(['projectId'], 'projects', 'cascade', { isEnforced: false })]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)']
}
changeSchema.setClass(ContactFieldChange)
