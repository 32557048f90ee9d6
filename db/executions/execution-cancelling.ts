import type { Pool } from 'pg'
import { priorities } from '../outbox/outbox.ts'
import { bool, int, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { inChunk } from '../transaction.ts'
import { readClock } from './execution-beginning.ts'

const cancelled = (reason: string) => `status = 'CANCELLED', exit_reason = ${reason},
	wait_event_name = null, wakes_at = null, due_at = null, completed_at = now(), updated_at = now()`

/** Ends one execution, first here and then in Temporal. No row: it is not active, or doesn't exist. */
export const cancelOne = statement('cancel-execution', {
	params: {
		projectId: uuid,
		executionId: uuid,
		automationId: uuid.orNull,
		reason: text,
		/** Whether its run in Temporal needs closing. */
		closesRun: bool,
	},
	row: { id: uuid },
	text: `with cancelled as (
		update executions set ${cancelled('$reason::text')}
		where project_id = $projectId and id = $executionId::uuid
			and ($automationId::uuid is null or automation_id = $automationId)
			and status in ('RUNNING', 'WAITING')
		returning project_id, id
	), queued as (
		insert into outbox (project_id, kind, priority, workflow_id, summary)
		select project_id, 'terminate', ${priorities.automation}, 'automation/' || id, $reason::text
		from cancelled where $closesRun::bool
	)
	select id from cancelled`,
})

/**
 * Ends some of an automation's executions, in the order of the index of active executions. A run of
 * `closeExecutions` closes their runs later; it is signalled even if it was about to end.
 */
const cancelSome = statement('cancel-executions', {
	params: {
		projectId: uuid,
		automationId: uuid,
		reason: text,
		after: uuid,
		limit: int,
		begunUntil: timestamp,
		taskQueue: text,
	},
	row: { cancelled: int, last: text.orNull },
	text: `with doomed as materialized (
		select id, contact_id from executions
		where project_id = $projectId and automation_id = $automationId::uuid
			and status in ('RUNNING', 'WAITING')
			and contact_id > $after::uuid and created_at <= $begunUntil::timestamptz
		order by contact_id limit $limit::int for no key update
	), cancelled as (
		update executions x set ${cancelled('$reason::text')}, is_closing = true
		from doomed where x.project_id = $projectId and x.id = doomed.id
		returning x.id
	), queued as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload)
		select $projectId, 'signal', ${priorities.bulk}, 'closeExecutions',
			'close/' || $projectId::text, $taskQueue::text,
			jsonb_build_object('name', 'moreEnded', 'argument', jsonb_build_object('projectId',
				$projectId::uuid))
		where exists (select from cancelled)
	)
	select (select count(*)::int from cancelled) as cancelled,
		(select max(contact_id::text) from doomed) as last`,
})

const chunk = 5000
const first = '00000000-0000-0000-0000-000000000000'

/** Ends all current executions of an automation; those that start meanwhile continue. */
export async function cancelExecutions(
	pool: Pool,
	projectId: string,
	automationId: string,
	reason: string,
	taskQueue: string,
) {
	const [clock] = await readClock(pool)
	let total = 0
	for (let after = first; ;) {
		const values = {
			projectId,
			automationId,
			reason,
			after,
			limit: chunk,
			begunUntil: clock!.now,
			taskQueue,
		}
		const [some] = await inChunk(pool, (db) => cancelSome(db, values))
		total += some!.cancelled
		if (some!.last === null) return total
		after = some!.last
	}
}

/**
 * Waits for executions of disabled automations that are just beginning. Each start locks its automation until it is
 * committed, and none begins after that.
 */
export const awaitStarts = statement('await-starts-of-automations', {
	params: { projectId: uuid, automationIds: uuid.array },
	text: `select from automations where project_id = $projectId and id = any($automationIds::uuid[])
	order by id for update`,
})

const automationsOf = statement('automations-of-project', {
	params: { projectId: uuid },
	row: { id: uuid },
	text: `select id from automations where project_id = $projectId`,
})

/** Ends all executions of a project that is being reset or deleted. */
export async function cancelProjectExecutions(
	pool: Pool,
	projectId: string,
	reason: string,
	taskQueue: string,
) {
	let total = 0
	for (const { id } of await automationsOf(pool, { projectId }))
		total += await cancelExecutions(pool, projectId, id, reason, taskQueue)
	return total
}

/** Ended executions whose runs are still open. */
export const closingExecutions = statement('closing-executions', {
	params: { projectId: uuid, limit: int },
	row: { id: uuid },
	text: `select id from executions where project_id = $projectId and is_closing order by id
		limit $limit::int`,
})

export const markClosed = statement('mark-executions-closed', {
	params: { projectId: uuid, executionIds: uuid.array },
	text: `update executions set is_closing = false where project_id = $projectId
		and id = any($executionIds::uuid[])`,
})
