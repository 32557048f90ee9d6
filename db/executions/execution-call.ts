import { bool, int, json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { latestOutputs } from './step-output.ts'

/** Whether the execution still waits for the answer to its call. */
export const callState = statement('call-state', {
	params: { projectId: uuid, executionId: uuid, visit: int },
	row: { isOpen: bool },
	text: `select exists (
		select from executions x
		join execution_steps s on s.project_id = x.project_id and s.execution_id = x.id
			and s.visit = x.visit
		where x.project_id = $projectId and x.id = $executionId and x.visit = $visit::int
			and x.status = 'RUNNING' and s.status = 'RUNNING') as "isOpen"`,
})

/**
 * Records the end of a WEBHOOK step, once: nothing happens if the execution has left the step. A final
 * failure also ends the execution. If the outputs of the execution would exceed `maxBytes`, the step gets
 * `shortOutput`. An earlier output of the same step is replaced, so it doesn't count.
 */
export const finishCall = statement('finish-call', {
	params: {
		projectId: uuid,
		executionId: uuid,
		visit: int,
		/** The other steps. */
		stepIds: uuid.array,
		status: text,
		output: json<object>(),
		shortOutput: json<object>(),
		maxBytes: int,
		error: text.orNull,
	},
	text: `with current as materialized (
		select x.project_id, x.id, x.visit from executions x
		where x.project_id = $projectId and x.id = $executionId and x.visit = $visit::int
			and x.status = 'RUNNING'
		for no key update
	), stored as (
		select coalesce(sum(octet_length(output::text)), 0) as bytes
		from (${latestOutputs}) latest where exists (select from current)
	), finished as (
		update execution_steps s set status = $status::text,
			output = case when stored.bytes + octet_length($output::jsonb::text) <= $maxBytes::int
				then $output::jsonb else $shortOutput::jsonb end,
			error = $error::text,
			attempts = coalesce(s.attempts, 0) + 1, completed_at = now()
		from current x cross join stored
		where s.project_id = x.project_id and s.execution_id = x.id and s.visit = x.visit
			and s.status = 'RUNNING'
		returning s.project_id, s.execution_id
	)
	update executions x set status = 'FAILED', error = $error::text, due_at = null,
		completed_at = now(), updated_at = now()
	from finished f
	where x.project_id = f.project_id and x.id = f.execution_id and $status::text = 'FAILED'`,
})

/**
 * Records the latest failed call of a WEBHOOK step while the step waits for its next try. The first call may have waited
 * for a worker, so the step begins with it.
 */
export const recordFailedCall = statement('record-failed-call', {
	params: {
		projectId: uuid,
		executionId: uuid,
		visit: int,
		error: text.orNull,
		calledAt: timestamp,
	},
	text: `update execution_steps s set attempts = coalesce(s.attempts, 0) + 1, error = $error::text,
		started_at = case when s.attempts is null then $calledAt::timestamptz else s.started_at end,
		reached_at = coalesce(s.reached_at, s.started_at)
	from executions x
	where x.project_id = $projectId and x.id = $executionId and x.visit = $visit::int
		and x.status = 'RUNNING'
		and s.project_id = x.project_id and s.execution_id = x.id and s.visit = x.visit
		and s.status = 'RUNNING'`,
})
