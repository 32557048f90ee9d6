import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/**
 * The contacts that a bulk job still has to do, a thousand in a row. Who is meant is decided once, so
 * that a filter which the job itself makes untrue means the same from the first chunk to the last.
 */
const schema = defineEntity({
	name: 'JobContacts',
	tableName: 'job_contacts',
	properties: {
		projectId: p.uuid().primary(),
		jobId: p.uuid().primary(),
		/** The place of the chunk's first contact, from 0. */
		position: p.integer().primary(),
		contactIds: p.array().columnType('uuid[]'),
	},
})

export class JobContacts extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'jobId', 'position']
}
schema.setClass(JobContacts)
