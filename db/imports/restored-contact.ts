import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/**
 * The state that an undo restored. An undo counts as a change of the contact, but with this row an earlier
 * import recognises its own state.
 */
const schema = defineEntity({
	name: 'RestoredContact',
	tableName: 'restored_contacts',
	indexes: [{ properties: ['restoredAt'] }],
	properties: {
		projectId: p.uuid().primary(),
		contactId: p.uuid().primary(),
		/** The contact's `updated_at` after the undo. Any other change sets another one. */
		restoredAt: p.datetime(3).primary(),
		/** The original `updated_at` of that state. */
		asOf: p.datetime(3),
	},
})

export class RestoredContact extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'contactId', 'restoredAt']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(RestoredContact)
