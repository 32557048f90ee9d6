import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

// What custom fields a project's contacts have, in which types and with which values, kept so that
// nobody has to look through the contacts. A trigger sums up what each statement did to contacts and
// appends it to contact_field_changes; now and then one of these statements also folds the project's
// changes into the two other tables. Nobody waits for a common row, and the sum of both is exact at any
// time: it is part of the same transaction as the contacts.
//
// The field of no name is `subscribed`: every contact has it, so its count is the number of contacts.
//
// Of each field and type the smallest values are kept, 400 to 800 of them; a `bound` says that values
// above it are not. A statement that left values out says so in its own change, with its own bound:
// what is at or below all bounds is counted exactly. Texts of more than 500 characters and whole
// objects and arrays are no values that anybody would pick from a list: they are counted only.

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
}
changeSchema.setClass(ContactFieldChange)
