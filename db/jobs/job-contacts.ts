import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/**
 * The contacts that a bulk job still has to process, a thousand per row. They are fixed once, so that a
 * filter which the job itself changes selects the same contacts from the first chunk to the last.
 */
const schema = defineEntity({
	name: 'JobContacts',
	tableName: 'job_contacts',
	properties: {
		projectId: p.uuid().primary(),
		jobId: p.uuid().primary(),
		/** The position of the chunk's first contact, from 0. */
		position: p.integer().primary(),
		contactIds: p.array().columnType('uuid[]'),
	},
})

export class JobContacts extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'jobId', 'position']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'jobId'], 'jobs', 'cascade'),
	]
}
schema.setClass(JobContacts)
