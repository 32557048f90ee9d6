import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'
import { int } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** What a job could not do, with reasons: rows of a file, or contacts. */
const schema = defineEntity({
	name: 'JobError',
	tableName: 'job_errors',
	indexes: [
		{
			name: 'job_errors_address',
			properties: ['projectId', 'email'],
			where: 'email is not null',
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		jobId: p.uuid().primary(),
		/** The row of the file, or the position among the requested contacts. */
		row: p.integer().primary(),
		contactId: p.uuid().nullable(),
		email: p.text().nullable(),
		error: p.text(),
	},
})

export class JobError extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'jobId', 'row']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'jobId'], 'jobs', 'cascade'),
	]
}
schema.setClass(JobError)

/**
 * A small file can have millions of unreadable rows. A job's id contains its time, and each project's
 * oldest errors come first in the key, so nothing else is read.
 */
export const removeOldErrors = statement('remove-old-job-errors', {
	params: { limit: int },
	row: { removed: int },
	text: `with due as materialized (
		select e.* from projects p cross join lateral (
			select project_id, job_id, row from job_errors
			where project_id = p.id and job_id < (select uuidv7('-90 days'))
			order by job_id, row limit $limit::int for update skip locked) e
		limit $limit::int
	), gone as (
		delete from job_errors e using due
		where e.project_id = due.project_id and e.job_id = due.job_id and e.row = due.row returning 1
	)
	select count(*)::int as removed from gone`,
})
