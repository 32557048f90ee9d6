import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'

export interface UnfinishedEnrolment {
	project_id: string
	automation_id: string
	scheduled_for: Date
	workflow_id: string
}

/**
 * Moments of schedules of which nobody has begun for five minutes, unless Temporal is still to be told
 * of them: it is asked about their runs. $1 how many at most
 */
export const unfinishedEnrolments = statement<UnfinishedEnrolment>(
	'unfinished-enrolments',
	`select project_id, automation_id, scheduled_for, workflow_id from enrolments e
	where ended_at is null and updated_at < now() - interval '5 minutes' and not exists (
		select from outbox o where o.workflow_id = e.workflow_id and o.done_at is null)
	order by random() limit $1::int`,
)

/**
 * Starts lost runs again behind the last contact that has begun, but none that has come to its end
 * meanwhile. $1 [UnfinishedEnrolment], $2 task queue
 */
export const restartEnrolments = statement(
	'restart-enrolments',
	`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary,
		search_attributes)
	select e.project_id, 'start', ${priorities.automation}, 'enrol', e.workflow_id, $2::text,
		jsonb_build_object('projectId', e.project_id, 'automationId', e.automation_id,
			'progress', jsonb_build_object('after', e.after, 'enrolled', 0, 'scheduledFor',
				to_char(e.scheduled_for at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))),
		'found unfinished, started again', jsonb_build_object('AutomationId', e.automation_id)
	from jsonb_to_recordset($1::jsonb)
		as l(project_id uuid, automation_id uuid, scheduled_for timestamptz)
	join enrolments e on e.project_id = l.project_id and e.automation_id = l.automation_id
		and e.scheduled_for = l.scheduled_for and e.ended_at is null`,
)
