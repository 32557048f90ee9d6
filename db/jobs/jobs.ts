import type { Pool, PoolClient } from 'pg'
import { priorities } from '../outbox/outbox.ts'
import { bytes, int, json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { inChunk } from '../transaction.ts'
import { bulkTypes } from './job.ts'

/** The key that workflows and activities pass on. */
export interface JobKey {
	projectId: string
	jobId: string
}

const start = (workflowType: string, prefix: string, taskQueue: string, summary: string) =>
	`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select $projectId, 'start', ${priorities.bulk}, '${workflowType}', '${prefix}/' || id, ${taskQueue},
		jsonb_build_object('projectId', $projectId::uuid, 'jobId', id), ${summary}
	from job`

export const acceptImport = statement('accept-import', {
	params: { projectId: uuid, content: bytes, fileName: text.orNull, taskQueue: text },
	row: { id: uuid },
	text: `with job as (
		insert into jobs (project_id, type, file_name) values ($projectId, 'import', $fileName::text)
			returning id
	), file as (
		insert into import_files (project_id, job_id, content)
			select $projectId, id, $content::bytea from job
	), started as (
		${start('importContacts', 'import', '$taskQueue::text', `'A file of ' || octet_length($content::bytea) || ' bytes'`)}
	)
	select id from job`,
})

/** Contacts are either listed, or described by a filter that the workflow evaluates. */
/** No row: there is no bulk unsubscription that it could take back. */
export const acceptBulkJob = statement('accept-bulk-job', {
	params: {
		projectId: uuid,
		type: text,
		contactIds: uuid.array.orNull,
		target: json<object>().orNull,
		/** The bulk unsubscription that this job takes back. */
		undoes: uuid.orNull,
		taskQueue: text,
	},
	row: { id: uuid },
	text: `with undone as (
		select created_at from jobs
		where project_id = $projectId and id = $undoes::uuid and type = 'bulk-unsubscribe'
	), job as (
		insert into jobs (project_id, type, target, total, decided_at)
		select $projectId, $type::text, $target::jsonb, cardinality($contactIds::uuid[]), (select created_at from undone)
		where $undoes::uuid is null or exists (select from undone)
		returning id
	), contacts as (
		insert into job_contacts (project_id, job_id, position, contact_ids)
		select $projectId, id, 0, $contactIds::uuid[] from job where $contactIds::uuid[] is not null
	), started as (
		${start('bulkJob', 'bulk', '$taskQueue::text', '$type::text')}
	)
	select id from job`,
})

/** Locks the import for an undo: of two requests, one comes first. */
export const lockImport = statement('lock-import', {
	params: { projectId: uuid, importId: uuid },
	row: { state: text, finished_at: timestamp.orNull },
	text: `select state, finished_at from jobs
	where project_id = $projectId and id = $importId::uuid and type = 'import' for update`,
})

/** An undo of this import that is running or has finished. */
export const undoOf = statement('undo-of-import', {
	params: { projectId: uuid, importId: uuid },
	row: { id: uuid, state: text },
	text: `select id, state from jobs
	where project_id = $projectId and import_id = $importId::uuid
		and state in ('waiting', 'active', 'completed')`,
})

export const acceptUndo = statement('accept-undo', {
	params: { projectId: uuid, importId: uuid, taskQueue: text },
	row: { id: uuid },
	text: `with job as (
		insert into jobs (project_id, type, import_id) values ($projectId, 'undo', $importId::uuid)
			returning id
	), started as (
		${start('undoImport', 'undo', '$taskQueue::text', 'null')}
	)
	select id from job`,
})

/** The target of a bulk job may name people, so it is forgotten when the job ends. That of a replay is shown. */
const forgotten = `target = case when type in ('${bulkTypes.join("', '")}') then null else target end`

/** Finished work stays. No row: the job has ended, or doesn't exist. */
export const cancelJob = statement('cancel-job', {
	params: { projectId: uuid, jobId: uuid, types: text.array },
	row: { id: uuid },
	text: `update jobs set state = 'cancelled', finished_at = now(), ${forgotten}
	where project_id = $projectId and id = $jobId::uuid and type = any($types::text[])
		and state in ('waiting', 'active')
	returning id`,
})

/** No row: it was cancelled, or has ended. */
export const beginJob = statement('begin-job', {
	params: { projectId: uuid, jobId: uuid },
	row: {
		type: text,
		total: int.orNull,
		target: json<unknown>().orNull,
		import_id: uuid.orNull,
	},
	text: `update jobs set state = 'active', started_at = coalesce(started_at, now())
	where project_id = $projectId and id = $jobId and state in ('waiting', 'active')
	returning type, total, target, import_id`,
})

export const finishJob = statement('finish-job', {
	params: { projectId: uuid, jobId: uuid },
	text: `update jobs set state = 'completed', finished_at = now(), ${forgotten}
	where project_id = $projectId and id = $jobId and state = 'active'`,
})

export const failJob = statement('fail-job', {
	params: { projectId: uuid, jobId: uuid, reason: text },
	text: `update jobs set state = 'failed', failed_reason = $reason::text, finished_at = now(), ${forgotten}
	where project_id = $projectId and id = $jobId and state in ('waiting', 'active')`,
})

export const jobErrors = statement('job-errors', {
	params: { projectId: uuid, jobId: uuid, after: int, limit: int },
	row: { row: int, email: text.orNull, error: text },
	text: `select row, email, error from job_errors
	where project_id = $projectId and job_id = $jobId and row > $after::int order by row
		limit $limit::int`,
})

const lockActive = statement('lock-active-job', {
	params: { projectId: uuid, jobId: uuid },
	row: { id: uuid },
	text: `select id from jobs where project_id = $projectId and id = $jobId and state = 'active'
		for update`,
})

/**
 * Runs a chunk under the lock of the job's row. Two workers with the same job take turns, and the second
 * sees everything that the first has done. undefined: the job may no longer continue.
 */
export const inActiveJob = <T>(
	pool: Pool,
	{ projectId, jobId }: JobKey,
	work: (db: PoolClient) => Promise<T>,
): Promise<T | undefined> =>
	inChunk(pool, async (db) => {
		const [job] = await lockActive(db, { projectId, jobId })
		return job && (await work(db))
	})

/**
 * Whether a contact, from `lockedContact`, was unsubscribed since the job, or the one that it takes back, was accepted,
 * and not by another job: a later decision is not overridden.
 */
export const hasLeft = (contact: string) => `coalesce(${contact}.refused_at >= (
			select coalesce(j.decided_at, j.created_at) from jobs j
			where j.project_id = $projectId and j.id = $jobId), false)`

/**
 * For a lateral join: one contact, locked, in the order of the left side. New tables have no statistics,
 * and a planner that assumes too much would read all contacts for each chunk. This leaves it only the
 * index.
 */
export const lockedContact = (where: string, lock = 'no key update') =>
	`select id, email, subscribed, refused_at, data, updated_at from contacts
	where project_id = $projectId and ${where} for ${lock}`
