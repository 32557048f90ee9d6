import { priorities } from '../outbox/outbox.ts'
import { int, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * Suspensions that are incomplete after five minutes and that Temporal has received: Temporal is asked
 * about their runs.
 */
export const unfinishedSuspensions = statement('unfinished-suspensions', {
	params: { limit: int },
	row: { project_id: uuid, id: uuid, workflow_id: text },
	text: `with unfinished as (
		select project_id, id, 'suspension/' || id as workflow_id from suspensions
		where told_at is null and at < now() - interval '5 minutes'
	)
	select * from unfinished u where not exists (
		select from outbox o where o.workflow_id = u.workflow_id and o.done_at is null)
	order by random() limit $limit::int`,
})

/** Restarts lost runs. */
export const restartSuspensions = statement('restart-suspensions', {
	params: { runs: json<object[]>(), taskQueue: text },
	text: `insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select project_id, 'start', ${priorities.automation}, 'suspendProject', workflow_id,
		$taskQueue::text,
		jsonb_build_object('projectId', project_id, 'suspensionId', id), 'found unfinished, started again'
	from jsonb_to_recordset($runs::jsonb) as l(project_id uuid, id uuid, workflow_id text)`,
})
