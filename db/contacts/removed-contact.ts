import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/**
 * A deleted contact, kept while its mail in a campaign may still be written: the ledger then names its address. See
 * removed-contacts.sql. Housekeeping deletes it afterwards.
 */
const schema = defineEntity({
	name: 'RemovedContact',
	tableName: 'removed_contacts',
	// By address, for erasing.
	indexes: [{ properties: ['projectId', 'email'] }],
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary(),
		email: p.text(),
	},
})

export class RemovedContact extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(RemovedContact)
