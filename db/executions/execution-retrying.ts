import type { Pool } from 'pg'
import { int, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { inChunk } from '../transaction.ts'
import { lockContacts, readClock, startRuns } from './execution-beginning.ts'

const continued = `status = 'RUNNING', error = null, completed_at = null, due_at = now(), updated_at = now()`

/** The failed run may take a moment to close; a start before that would find the old run. */
const restartRuns = startRuns('$taskQueue::text', `now() + interval '1 second'`)

/**
 * Lets a failed execution continue with its failed step. No row: it has not failed, doesn't exist, or its
 * contact was deleted. As with all starts, one lock keeps the automation from being deleted meanwhile, and one
 * keeps other executions of the contact from starting.
 */
export const retryExecution = statement('retry-execution', {
	params: { projectId: uuid, automationId: uuid, executionId: uuid, taskQueue: text },
	row: { id: uuid },
	text: `with a as (
		select id, name from automations where project_id = $projectId
			and id = $automationId::uuid for key share
	), c as (
		select id from contacts where project_id = $projectId and id = (
			select contact_id from executions where project_id = $projectId and id = $executionId::uuid)
		for no key update
	), b as (
		update executions x set ${continued}
		from a cross join c
		where x.project_id = $projectId and x.automation_id = a.id and x.id = $executionId::uuid
			and x.status = 'FAILED'
			and x.contact_id = c.id
		returning x.project_id, x.id, x.automation_id, x.version, x.contact_id
	), started as (${restartRuns}
		from b cross join a
		returning id
	)
	select id from b`,
})

/** The next ones that had failed by then, newest first, from the index of failed executions. */
const failedExecutions = statement('failed-executions', {
	params: { projectId: uuid, automationId: uuid, before: uuid, failedUntil: timestamp, limit: int },
	row: { id: uuid, contact_id: uuid.notNull('others are left out') },
	text: `select id, contact_id from executions
	where project_id = $projectId and automation_id = $automationId::uuid and status = 'FAILED'
		and id < $before::uuid
		and contact_id is not null and completed_at <= $failedUntil::timestamptz
	order by id desc limit $limit::int`,
})

/**
 * Lets these continue, whose contacts are locked. Of several of a contact, only the newest may, and not if another one is
 * active or has ended since the work began: that one may be the newest, retried with an earlier page. The subqueries
 * leave the planner only the primary key, and the index by contact for the others: in a new table it would read all
 * active ones for each, because it assumes that there are none.
 */
const retrySome = statement('retry-executions', {
	params: {
		projectId: uuid,
		automationId: uuid,
		executionIds: uuid.array,
		failedUntil: timestamp,
		taskQueue: text,
	},
	row: { retried: int },
	text: `with a as (
		select id, name from automations where project_id = $projectId
			and id = $automationId::uuid for key share
	), chosen as materialized (
		select f.id
		from a cross join unnest($executionIds::uuid[]) as given(id) cross join lateral (
			select id, contact_id from executions
			where project_id = $projectId and id = given.id and status = 'FAILED' for no key update) f
		where not exists (
			select from (
				select id, status, completed_at from executions
				where contact_id = f.contact_id and automation_id = a.id offset 0) other
			where status in ('RUNNING', 'WAITING') or completed_at > $failedUntil::timestamptz
				or status = 'FAILED' and other.id > f.id)
	), b as (
		update executions x set ${continued}
		from chosen
		where x.project_id = $projectId and x.id = chosen.id
		returning x.project_id, x.id, x.automation_id, x.version, x.contact_id
	), started as (${restartRuns}
		from b cross join a order by b.id
		returning id
	)
	select count(*)::int as retried from started`,
})

const chunk = 1000
const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Retries all executions of an automation that have failed by now; those that fail meanwhile stay. */
export async function retryFailedExecutions(
	pool: Pool,
	projectId: string,
	automationId: string,
	taskQueue: string,
) {
	const [clock] = await readClock(pool)
	const of = { projectId, automationId, failedUntil: clock!.now }
	let total = 0
	for (let before = last; ;) {
		const failed = await failedExecutions(pool, { ...of, before, limit: chunk })
		if (failed.length === 0) return total
		const contactIds = [...new Set(failed.map((one) => one.contact_id))]
		const executionIds = failed.map(({ id }) => id)
		total += await inChunk(pool, async (db) => {
			await lockContacts(db, { projectId, contactIds })
			const [some] = await retrySome(db, { ...of, executionIds, taskQueue })
			return some!.retried
		})
		before = failed.at(-1)!.id
	}
}
