import { priorities } from '../outbox/outbox.ts'
import { int, json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * Enrolments without progress for five minutes, except those that Temporal has yet to receive: Temporal is
 * asked about their runs.
 */
export const unfinishedEnrolments = statement('unfinished-enrolments', {
	params: { limit: int },
	row: { project_id: uuid, automation_id: uuid, scheduled_for: timestamp, workflow_id: text },
	text: `select project_id, automation_id, scheduled_for, workflow_id from enrolments e
	where ended_at is null and updated_at < now() - interval '5 minutes' and not exists (
		select from outbox o where o.workflow_id = e.workflow_id and o.done_at is null)
	order by random() limit $limit::int`,
})

/**
 * Restarts lost runs, except for enrolments that have ended meanwhile. Each continues after its last enrolled
 * contact.
 */
export const restartEnrolments = statement('restart-enrolments', {
	params: { runs: json<object[]>(), taskQueue: text },
	text: `insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary,
		search_attributes)
	select e.project_id, 'start', ${priorities.bulk}, 'enrol', e.workflow_id, $taskQueue::text,
		jsonb_build_object('projectId', e.project_id, 'automationId', e.automation_id,
			'progress', jsonb_build_object('after', e.after, 'enrolled', 0, 'scheduledFor',
				iso_text(e.scheduled_for))),
		'found unfinished, started again', jsonb_build_object('AutomationId', e.automation_id)
	from jsonb_to_recordset($runs::jsonb)
		as l(project_id uuid, automation_id uuid, scheduled_for timestamptz)
	join enrolments e on e.project_id = l.project_id and e.automation_id = l.automation_id
		and e.scheduled_for = l.scheduled_for and e.ended_at is null`,
})
