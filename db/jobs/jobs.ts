import type { Pool, PoolClient } from 'pg'
import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'
import { inChunk } from '../transaction.ts'

/** What crosses into workflows and activities. */
export interface JobKey {
	projectId: string
	jobId: string
}

const start = (workflowType: string, prefix: string, taskQueue: string, summary: string) =>
	`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select $1, 'start', ${priorities.bulk}, '${workflowType}', '${prefix}/' || id, ${taskQueue},
		jsonb_build_object('projectId', $1::uuid, 'jobId', id), ${summary}
	from job`

/** $1 project, $2 the file, $3 task queue */
export const acceptImport = statement<{ id: string }>(
	'accept-import',
	`with job as (
		insert into jobs (project_id, type) values ($1, 'import') returning id
	), file as (
		insert into import_files (project_id, job_id, content) select $1, id, $2::bytea from job
	), started as (
		${start('importContacts', 'import', '$3::text', `'A file of ' || octet_length($2::bytea) || ' bytes'`)}
	)
	select id from job`,
)

/**
 * Contacts are named one by one, or described: then the workflow looks who they are.
 * $1 project, $2 type, $3 contact ids or null, $4 description as JSON or null, $5 task queue
 */
export const acceptBulkJob = statement<{ id: string }>(
	'accept-bulk-job',
	`with job as (
		insert into jobs (project_id, type, target, total)
		values ($1, $2::text, $4::jsonb, cardinality($3::uuid[])) returning id
	), contacts as (
		insert into job_contacts (project_id, job_id, position, contact_ids)
		select $1, id, 0, $3::uuid[] from job where $3::uuid[] is not null
	), started as (
		${start('bulkJob', 'bulk', '$5::text', '$2::text')}
	)
	select id from job`,
)

/** The import an undo is asked for, locked: of two requests one comes first. $1 project, $2 import */
export const lockImport = statement<{ state: string; finished_at: Date | null }>(
	'lock-import',
	`select state, finished_at from jobs
	where project_id = $1 and id = $2::uuid and type = 'import' for update`,
)

/** An undo that takes it back already, or did. $1 project, $2 import */
export const undoOf = statement<{ id: string; state: string }>(
	'undo-of-import',
	`select id, state from jobs
	where project_id = $1 and import_id = $2::uuid and state in ('waiting', 'active', 'completed')`,
)

/** $1 project, $2 import, $3 task queue */
export const acceptUndo = statement<{ id: string }>(
	'accept-undo',
	`with job as (
		insert into jobs (project_id, type, import_id) values ($1, 'undo', $2::uuid) returning id
	), started as (
		${start('undoImport', 'undo', '$3::text', 'null')}
	)
	select id from job`,
)

/** What is done stays done. No row: it has ended, or there is none. $1 project, $2 job, $3 types */
export const cancelJob = statement<{ id: string }>(
	'cancel-job',
	`update jobs set state = 'cancelled', finished_at = now()
	where project_id = $1 and id = $2::uuid and type = any($3::text[])
		and state in ('waiting', 'active')
	returning id`,
)

export interface BegunJob {
	type: string
	total: number | null
	target: unknown
	import_id: string | null
}

/** No row: it was cancelled, or has ended. $1 project, $2 job */
export const beginJob = statement<BegunJob>(
	'begin-job',
	`update jobs set state = 'active', started_at = coalesce(started_at, now())
	where project_id = $1 and id = $2 and state in ('waiting', 'active')
	returning type, total, target, import_id`,
)

/** $1 project, $2 job */
export const finishJob = statement(
	'finish-job',
	`update jobs set state = 'completed', finished_at = now()
	where project_id = $1 and id = $2 and state = 'active'`,
)

/** $1 project, $2 job, $3 reason */
export const failJob = statement(
	'fail-job',
	`update jobs set state = 'failed', failed_reason = $3::text, finished_at = now()
	where project_id = $1 and id = $2 and state in ('waiting', 'active')`,
)

/** $1 project, $2 job, $3 the last row before this page, $4 how many */
export const jobErrors = statement<{ row: number; email: string | null; error: string }>(
	'job-errors',
	`select row, email, error from job_errors
	where project_id = $1 and job_id = $2 and row > $3::int order by row limit $4::int`,
)

const lockActive = statement<{ id: string }>(
	'lock-active-job',
	`select id from jobs where project_id = $1 and id = $2 and state = 'active' for update`,
)

/**
 * A chunk under the lock of the job's row: two workers that hold the same job take turns, and who comes
 * second sees all that the first has done. undefined: the job is no longer to be worked on.
 */
export const inActiveJob = <T>(
	pool: Pool,
	{ projectId, jobId }: JobKey,
	work: (db: PoolClient) => Promise<T>,
): Promise<T | undefined> =>
	inChunk(pool, async (db) => {
		const [job] = await lockActive(db, [projectId, jobId])
		return job && (await work(db))
	})

/**
 * For a lateral join: the one contact, locked, in the order of what is on the left. Freshly filled
 * tables have no statistics, and a planner that guesses high would read all contacts for each chunk;
 * this leaves it nothing but the index.
 */
export const lockedContact = (where: string, lock = 'no key update') =>
	`select id, email, subscribed, data, updated_at from contacts
	where project_id = $1 and ${where} for ${lock}`
