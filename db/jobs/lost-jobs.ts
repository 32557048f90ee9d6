import { priorities } from '../outbox/outbox.ts'
import { int, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * Jobs that are unfinished after five minutes and that Temporal has received: Temporal is asked about
 * their runs. A random choice, so that a few long jobs don't hide the others.
 */
export const unfinishedJobs = statement('unfinished-jobs', {
	params: { limit: int },
	row: { project_id: uuid, id: uuid, workflow_type: text, workflow_id: text },
	text: `with unfinished as (
		select project_id, id, workflow_type, prefix || '/' || id as workflow_id
		from jobs join (values ('import', 'importContacts', 'import'), ('undo', 'undoImport', 'undo'),
			('replay', 'replayWebhooks', 'replay'), ('bulk', 'bulkJob', 'bulk')) as w(kind, workflow_type, prefix)
			on kind = case when type in ('import', 'undo', 'replay') then type else 'bulk' end
		where state in ('waiting', 'active') and created_at < now() - interval '5 minutes'
	)
	select * from unfinished u where not exists (
		select from outbox o where o.workflow_id = u.workflow_id and o.done_at is null)
	order by random() limit $limit::int`,
})

/** Restarts lost runs. */
export const restartJobs = statement('restart-jobs', {
	params: { runs: json<object[]>(), taskQueue: text },
	text: `insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select project_id, 'start', ${priorities.bulk}, workflow_type, workflow_id, $taskQueue::text,
		jsonb_build_object('projectId', project_id, 'jobId', id), 'found unfinished, started again'
	from jsonb_to_recordset($runs::jsonb)
		as l(project_id uuid, id uuid, workflow_type text, workflow_id text)`,
})
