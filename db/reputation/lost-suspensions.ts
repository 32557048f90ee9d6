import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'

export interface UnfinishedSuspension {
	project_id: string
	id: string
	workflow_id: string
}

/**
 * Suspensions that are not carried out after five minutes, and that Temporal was told of: it is asked
 * about their runs. $1 how many at most
 */
export const unfinishedSuspensions = statement<UnfinishedSuspension>(
	'unfinished-suspensions',
	`with unfinished as (
		select project_id, id, 'suspension/' || id as workflow_id from suspensions
		where told_at is null and at < now() - interval '5 minutes'
	)
	select * from unfinished u where not exists (
		select from outbox o where o.workflow_id = u.workflow_id and o.done_at is null)
	order by random() limit $1::int`,
)

/** Starts lost runs again. $1 suspensions as `unfinishedSuspensions` answers them, $2 task queue */
export const restartSuspensions = statement(
	'restart-suspensions',
	`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select project_id, 'start', ${priorities.automation}, 'suspendProject', workflow_id, $2::text,
		jsonb_build_object('projectId', project_id, 'suspensionId', id), 'found unfinished, started again'
	from jsonb_to_recordset($1::jsonb) as l(project_id uuid, id uuid, workflow_id text)`,
)
