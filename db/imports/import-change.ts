import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/** What one chunk of an import did, for its undo: three arrays of the same length. */
const schema = defineEntity({
	name: 'ImportChange',
	tableName: 'import_changes',
	indexes: [{ name: 'import_changes_contacts', properties: ['contactIds'], type: 'gin' }],
	properties: {
		projectId: p.uuid().primary(),
		jobId: p.uuid().primary(),
		/** The position of the chunk's last row. */
		position: p.integer().primary(),
		/** The contacts' `updated_at` after the change. */
		changedAt: p.datetime(3),
		contactIds: p.array().columnType('uuid[]'),
		/** Hashes of the contacts' new values, because two writes may share a millisecond. */
		marks: p.array().columnType('bigint[]'),
		/** `{subscribed, data, updatedAt}` before; null for a new contact. */
		befores: p.array().columnType('jsonb[]'),
	},
})

export class ImportChange extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'jobId', 'position']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'jobId'], 'jobs', 'cascade'),
	]
}
schema.setClass(ImportChange)
