import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/** What one chunk of an import did, so that it can be taken back: three arrays of one length. */
const schema = defineEntity({
	name: 'ImportChange',
	tableName: 'import_changes',
	indexes: [{ name: 'import_changes_contacts', properties: ['contactIds'], type: 'gin' }],
	properties: {
		projectId: p.uuid().primary(),
		jobId: p.uuid().primary(),
		/** Of the chunk's last row. */
		position: p.integer().primary(),
		/** What the contacts have as `updated_at` since. */
		changedAt: p.datetime(3),
		contactIds: p.array().columnType('uuid[]'),
		/** Hashes of what the contacts were given: two writes may fall into one millisecond. */
		marks: p.array().columnType('bigint[]'),
		/** `{subscribed, data, updatedAt}` before; null for a contact that was not there. */
		befores: p.array().columnType('jsonb[]'),
	},
})

export class ImportChange extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'jobId', 'position']
}
schema.setClass(ImportChange)
