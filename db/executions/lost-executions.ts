import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'

export interface OverdueExecution {
	project_id: string
	id: string
	workflow_id: string
}

/**
 * Executions that should have moved two minutes ago, and that Temporal was told of: it is asked about
 * their runs. One that only waits for its time is not among them, however long. They come up again two
 * minutes later, whoever asks. $1 how many at most
 */
export const overdueExecutions = statement<OverdueExecution>(
	'overdue-executions',
	`with overdue as (
		select x.project_id, x.id from executions x
		where x.due_at < now() - interval '2 minutes' and not exists (
			select from outbox o
			where o.workflow_id = 'automation/' || x.id and o.done_at is null)
		order by x.due_at limit $1::int for no key update skip locked
	)
	update executions x set due_at = now() from overdue o
	where x.project_id = o.project_id and x.id = o.id
	returning x.project_id, x.id, 'automation/' || x.id as workflow_id`,
)

/**
 * They live, and most wait for somebody's server: they come up again ten minutes later, unless they have
 * moved. $1 executions
 */
export const postponeExecutions = statement(
	'postpone-executions',
	`update executions x set due_at = now() + interval '8 minutes'
	from jsonb_to_recordset($1::jsonb) as l(project_id uuid, id uuid)
	where x.project_id = l.project_id and x.id = l.id and x.due_at < now()`,
)

/** Starts lost runs again, where the rows say they stand. $1 [OverdueExecution], $2 task queue */
export const restartExecutions = statement(
	'restart-executions',
	`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload,
		summary, search_attributes)
	select x.project_id, 'start', ${priorities.automation}, 'automation', 'automation/' || x.id, $2::text,
		jsonb_build_object('projectId', x.project_id, 'executionId', x.id),
		a.name || ', version ' || x.version || ', started again',
		jsonb_build_object('AutomationId', x.automation_id, 'ContactId', x.contact_id)
	from jsonb_to_recordset($1::jsonb) as l(project_id uuid, id uuid)
	join executions x on x.project_id = l.project_id and x.id = l.id
		and x.status in ('RUNNING', 'WAITING')
	join automations a on a.project_id = x.project_id and a.id = x.automation_id`,
)

/** Projects with ended executions whose runs should have been closed by now. $1 how many at most */
export const overdueClosings = statement<{ project_id: string; workflow_id: string }>(
	'overdue-closings',
	`select distinct project_id, 'close/' || project_id as workflow_id from (
		select project_id, updated_at from executions where is_closing limit 1000) x
	where updated_at < now() - interval '10 minutes' limit $1::int`,
)

/** $1 [{project_id}], $2 task queue */
export const restartClosings = statement(
	'restart-closings',
	`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload)
	select project_id, 'start', ${priorities.bulk}, 'closeExecutions', 'close/' || project_id, $2::text,
		jsonb_build_object('projectId', project_id)
	from jsonb_to_recordset($1::jsonb) as l(project_id uuid)`,
)
