import { statement } from '../statement.ts'

/**
 * Writes how a WEBHOOK step has ended, once: nothing happens if it is not at it any more. One that
 * failed for good ends the execution with it.
 *
 * $1 project, $2 execution, $3 visit, $4 status, $5 output, $6 error
 */
export const finishCall = statement(
	'finish-call',
	`with standing as materialized (
		select x.project_id, x.id, x.visit from executions x
		where x.project_id = $1 and x.id = $2 and x.visit = $3::int and x.status = 'RUNNING'
		for no key update
	), finished as (
		update execution_steps s set status = $4::text, output = $5::jsonb, error = $6::text,
			attempts = coalesce(s.attempts, 0) + 1, completed_at = now()
		from standing x
		where s.project_id = x.project_id and s.execution_id = x.id and s.visit = x.visit
			and s.status = 'RUNNING'
		returning s.project_id, s.execution_id
	)
	update executions x set status = 'FAILED', error = $6::text, due_at = null,
		completed_at = now(), updated_at = now()
	from finished f
	where x.project_id = f.project_id and x.id = f.execution_id and $4::text = 'FAILED'`,
)

/**
 * Writes what the latest call of a WEBHOOK step has met, while the step waits for its next try.
 * $1 project, $2 execution, $3 visit, $4 error
 */
export const noteFailedCall = statement(
	'note-failed-call',
	`update execution_steps s set attempts = coalesce(s.attempts, 0) + 1, error = $4::text
	from executions x
	where x.project_id = $1 and x.id = $2 and x.visit = $3::int and x.status = 'RUNNING'
		and s.project_id = x.project_id and s.execution_id = x.id and s.visit = x.visit
		and s.status = 'RUNNING'`,
)
