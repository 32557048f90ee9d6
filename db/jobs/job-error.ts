import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/** What a job could not do, and why: rows of a file, or contacts. */
const schema = defineEntity({
	name: 'JobError',
	tableName: 'job_errors',
	properties: {
		projectId: p.uuid().primary(),
		jobId: p.uuid().primary(),
		/** The row of the file, or the place among the contacts asked for. */
		row: p.integer().primary(),
		contactId: p.uuid().nullable(),
		email: p.text().nullable(),
		error: p.text(),
	},
})

export class JobError extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'jobId', 'row']
}
schema.setClass(JobError)
