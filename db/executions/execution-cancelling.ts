import type { Pool } from 'pg'
import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'
import { inChunk } from '../transaction.ts'

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

/**
 * Ends some of an automation's executions, in the order of the index that has the active ones. Their
 * runs are closed behind it, by a run that is told even if it was about to end. $1 project, $2 automation,
 * $3 reason, $4 the contact after which to go on, $5 how many, $6 those begun until then, $7 task queue
 */
const cancelSome = statement<{ cancelled: number; last: string | null }>(
	'cancel-executions',
	`with doomed as materialized (
		select id, contact_id from executions
		where project_id = $1 and automation_id = $2::uuid and status in ('RUNNING', 'WAITING')
			and contact_id > $4::uuid and created_at <= $6::timestamptz
		order by contact_id limit $5::int for no key update
	), cancelled as (
		update executions x set ${cancelled('$3::text')}, is_closing = true
		from doomed where x.project_id = $1 and x.id = doomed.id
		returning x.id
	), told as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload)
		select $1, 'signal', ${priorities.bulk}, 'closeExecutions', 'close/' || $1::text, $7::text,
			jsonb_build_object('name', 'moreEnded', 'argument', jsonb_build_object('projectId', $1::uuid))
		where exists (select from cancelled)
	)
	select (select count(*)::int from cancelled) as cancelled,
		(select max(contact_id::text) from doomed) as last`,
)

const chunk = 5000
const first = '00000000-0000-0000-0000-000000000000'

/** Ends every execution that an automation has now; those that begin meanwhile go on. */
export async function cancelExecutions(
	pool: Pool,
	projectId: string,
	automationId: string,
	reason: string,
	taskQueue: string,
) {
	const {
		rows: [clock],
	} = await pool.query<{ now: Date }>('select clock_timestamp() as now')
	let total = 0
	for (let after = first; ;) {
		const values = [projectId, automationId, reason, after, chunk, clock!.now, taskQueue]
		const [some] = await inChunk(pool, (db) => cancelSome(db, values))
		total += some!.cancelled
		if (some!.last === null) return total
		after = some!.last
	}
}

/** $1 project */
const automationsOf = statement<{ id: string }>(
	'automations-of-project',
	`select id from automations where project_id = $1`,
)

/** Ends every execution of a project: it is reset, or goes. */
export async function cancelProjectExecutions(
	pool: Pool,
	projectId: string,
	reason: string,
	taskQueue: string,
) {
	let total = 0
	for (const { id } of await automationsOf(pool, [projectId]))
		total += await cancelExecutions(pool, projectId, id, reason, taskQueue)
	return total
}

/** Those whose runs are still to be closed. $1 project, $2 how many */
export const closingExecutions = statement<{ id: string }>(
	'closing-executions',
	`select id from executions where project_id = $1 and is_closing order by id limit $2::int`,
)

/** $1 project, $2 ids */
export const markClosed = statement(
	'mark-executions-closed',
	`update executions set is_closing = false where project_id = $1 and id = any($2::uuid[])`,
)
