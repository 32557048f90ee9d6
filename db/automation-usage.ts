import { statement } from './statement.ts'

/** How many executions of an automation are still on their way. $1 project, $2 automation */
export const countActive = statement<{ active: number }>(
	'count-active-executions',
	`select count(*)::int as active from executions
	where project_id = $1 and automation_id = $2::uuid and status in ('RUNNING', 'WAITING')`,
)
