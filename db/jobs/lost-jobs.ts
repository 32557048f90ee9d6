import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'

export interface UnfinishedJob {
	project_id: string
	id: string
	workflow_type: string
	workflow_id: string
}

/**
 * Jobs that were not finished within five minutes, and that Temporal was told of: it is asked about
 * their runs. Any of them, so that a few that take long do not hide the others. $1 how many at most
 */
export const unfinishedJobs = statement<UnfinishedJob>(
	'unfinished-jobs',
	`with unfinished as (
		select project_id, id, workflow_type, prefix || '/' || id as workflow_id
		from jobs join (values ('import', 'importContacts', 'import'), ('undo', 'undoImport', 'undo'),
			('bulk', 'bulkJob', 'bulk')) as w(kind, workflow_type, prefix)
			on kind = case when type in ('import', 'undo') then type else 'bulk' end
		where state in ('waiting', 'active') and created_at < now() - interval '5 minutes'
	)
	select * from unfinished u where not exists (
		select from outbox o where o.workflow_id = u.workflow_id and o.done_at is null)
	order by random() limit $1::int`,
)

/** Starts lost runs again. $1 jobs as `unfinishedJobs` answers them, $2 task queue */
export const restartJobs = statement(
	'restart-jobs',
	`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select project_id, 'start', ${priorities.bulk}, workflow_type, workflow_id, $2::text,
		jsonb_build_object('projectId', project_id, 'jobId', id), 'found unfinished, started again'
	from jsonb_to_recordset($1::jsonb)
		as l(project_id uuid, id uuid, workflow_type text, workflow_id text)`,
)
