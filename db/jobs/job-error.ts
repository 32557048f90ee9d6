import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { statement } from '../statement.ts'

/** What a job could not do, and why: rows of a file, or contacts. */
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

/**
 * A small file can have millions of rows that cannot be read. A job's id tells when it was accepted, and
 * the oldest errors of each project lie first: nothing else is looked at. $1 how many at most
 */
export const removeOldErrors = statement<{ removed: number }>(
	'remove-old-job-errors',
	`with due as materialized (
		select e.* from projects p cross join lateral (
			select project_id, job_id, row from job_errors
			where project_id = p.id and job_id < (select uuidv7('-90 days'))
			order by job_id, row limit $1::int for update skip locked) e
		limit $1::int
	), gone as (
		delete from job_errors e using due
		where e.project_id = due.project_id and e.job_id = due.job_id and e.row = due.row returning 1
	)
	select count(*)::int as removed from gone`,
)
