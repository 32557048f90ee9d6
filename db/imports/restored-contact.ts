import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/**
 * The state that an undo gave back to a contact. An undo counts as a change, but an import before it finds
 * in this that the contact is as that import left it.
 */
const schema = defineEntity({
	name: 'RestoredContact',
	tableName: 'restored_contacts',
	indexes: [{ properties: ['restoredAt'] }],
	properties: {
		projectId: p.uuid().primary(),
		contactId: p.uuid().primary(),
		/** The contact's `updated_at` by the undo. Any other change gives it another one. */
		restoredAt: p.datetime(3).primary(),
		/** The `updated_at` that its state had at first. */
		asOf: p.datetime(3),
	},
})

export class RestoredContact extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'contactId', 'restoredAt']
}
schema.setClass(RestoredContact)
