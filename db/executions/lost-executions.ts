import { priorities } from '../outbox/outbox.ts'
import { int, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * Executions that are two minutes overdue and that Temporal has received: Temporal is asked about their
 * runs. Executions that wait for their time are not overdue. Each is returned again two minutes later.
 */
export const overdueExecutions = statement('overdue-executions', {
	params: { limit: int },
	row: { project_id: uuid, id: uuid, workflow_id: text },
	text: `with overdue as (
		select x.project_id, x.id from executions x
		where x.due_at < now() - interval '2 minutes' and not exists (
			select from outbox o
			where o.workflow_id = 'automation/' || x.id and o.done_at is null)
		order by x.due_at limit $limit::int for no key update skip locked
	)
	update executions x set due_at = now() from overdue o
	where x.project_id = o.project_id and x.id = o.id
	returning x.project_id, x.id, 'automation/' || x.id as workflow_id`,
})

/**
 * Their runs are alive, mostly waiting for a customer's server. They are returned again ten minutes later,
 * unless they have moved.
 */
export const postponeExecutions = statement('postpone-executions', {
	params: { runs: json<object[]>() },
	text: `update executions x set due_at = now() + interval '8 minutes'
	from jsonb_to_recordset($runs::jsonb) as l(project_id uuid, id uuid)
	where x.project_id = l.project_id and x.id = l.id and x.due_at < now()`,
})

/** Restarts lost runs from the database's state. */
export const restartExecutions = statement('restart-executions', {
	params: { runs: json<object[]>(), taskQueue: text },
	text: `insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload,
		summary, search_attributes)
	select x.project_id, 'start', ${priorities.automation}, 'automation', 'automation/' || x.id,
		$taskQueue::text,
		jsonb_build_object('projectId', x.project_id, 'executionId', x.id),
		a.name || ', version ' || x.version || ', started again',
		jsonb_build_object('AutomationId', x.automation_id, 'ContactId', x.contact_id)
	from jsonb_to_recordset($runs::jsonb) as l(project_id uuid, id uuid)
	join executions x on x.project_id = l.project_id and x.id = l.id
		and x.status in ('RUNNING', 'WAITING')
	join automations a on a.project_id = x.project_id and a.id = x.automation_id`,
})

/** Projects with ended executions whose runs should have been closed by now. */
export const overdueClosings = statement('overdue-closings', {
	params: { limit: int },
	row: { project_id: uuid, workflow_id: text },
	text: `select distinct project_id, 'close/' || project_id as workflow_id from (
		select project_id, updated_at from executions where is_closing limit 1000) x
	where updated_at < now() - interval '10 minutes' limit $limit::int`,
})

export const restartClosings = statement('restart-closings', {
	params: { runs: json<object[]>(), taskQueue: text },
	text: `insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload)
	select project_id, 'start', ${priorities.bulk}, 'closeExecutions', 'close/' || project_id,
		$taskQueue::text,
		jsonb_build_object('projectId', project_id)
	from jsonb_to_recordset($runs::jsonb) as l(project_id uuid)`,
})
