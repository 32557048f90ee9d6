import { priorities } from './outbox.ts'
import { statement } from './statement.ts'

const cancelled = (reason: string) => `status = 'CANCELLED', exit_reason = ${reason},
	wait_event_name = null, wakes_at = null, due_at = null, completed_at = now(), updated_at = now()`

/**
 * Ends one execution, here first and then in Temporal. No row: it is not active, or there is none.
 * $1 project, $2 execution, $3 automation or null, $4 reason, $5 whether Temporal is to be told
 */
export const cancelOne = statement<{ id: string }>(
	'cancel-execution',
	`with cancelled as (
		update executions set ${cancelled('$4::text')}
		where project_id = $1 and id = $2::uuid and ($3::uuid is null or automation_id = $3)
			and status in ('RUNNING', 'WAITING')
		returning project_id, id
	), told as (
		insert into outbox (project_id, kind, priority, workflow_id, summary)
		select project_id, 'terminate', ${priorities.automation}, 'automation/' || id, $4::text
		from cancelled where $5::bool
	)
	select id from cancelled`,
)
