import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'

/** What everybody who begins executions writes with them. `b` are the new rows, `a` their automation. */
const tellTemporal = (taskQueue: string, nextAt = 'now()') => `
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload,
		summary, search_attributes, next_at)
	select b.project_id, 'start', ${priorities.automation}, 'automation', 'automation/' || b.id, ${taskQueue},
		jsonb_build_object('projectId', b.project_id, 'executionId', b.id),
		a.name || ', version ' || b.version,
		jsonb_build_object('AutomationId', b.automation_id, 'ContactId', b.contact_id), ${nextAt}`

/**
 * The contacts that are there, locked in order: whether one of them has an execution already is decided
 * under its lock, by whoever begins one. $1 project, $2 ids
 */
export const lockContacts = statement<{ id: string }>(
	'lock-contacts',
	`select id from contacts where project_id = $1 and id = any($2::uuid[])
	order by id for no key update`,
)

/**
 * Begins executions for contacts that are locked, unless the rule of re-entry forbids it: without it
 * any earlier one does, with it an active one. Events do the same in a trigger.
 *
 * $1 project, $2 automation, $3 contacts, $4 context, $5 the moment of the schedule or null,
 * $6 task queue
 */
export const beginExecutions = statement<{ id: string }>(
	'begin-executions',
	`with automation as (
		select id, name, current_version, allow_reentry from automations
		where project_id = $1 and id = $2::uuid and enabled for key share
	), begun as (
		insert into executions (project_id, automation_id, version, contact_id, allow_reentry, context,
			scheduled_for)
		select $1, a.id, a.current_version, c.id, a.allow_reentry, $4::jsonb, $5::timestamptz
		from automation a cross join unnest($3::uuid[]) as c(id)
		where not exists (
			select from executions x
			where x.project_id = $1 and x.contact_id = c.id and x.automation_id = a.id
				and (not a.allow_reentry or x.status in ('RUNNING', 'WAITING')))
		order by c.id
		on conflict do nothing
		returning project_id, id, automation_id, version, contact_id
	), told as (${tellTemporal('$6::text')}
		from begun b cross join automation a order by b.id
	)
	select id from begun`,
)

/**
 * Lets a failed execution go on with the step that failed. No row: it has not failed, is not there, or
 * its contact is gone. The run that failed may take a moment to close; until then a start would find it.
 * As with all that begins, the automation stays there meanwhile.
 *
 * $1 project, $2 automation, $3 execution, $4 task queue
 */
export const retryExecution = statement<{ id: string }>(
	'retry-execution',
	`with a as (
		select id, name from automations where project_id = $1 and id = $2::uuid for key share
	), b as (
		update executions x set status = 'RUNNING', error = null, completed_at = null, due_at = now(),
			updated_at = now()
		from a
		where x.project_id = $1 and x.automation_id = a.id and x.id = $3::uuid and x.status = 'FAILED'
			and x.contact_id is not null
		returning x.project_id, x.id, x.automation_id, x.version, x.contact_id
	), told as (${tellTemporal('$4::text', `now() + interval '1 second'`)}
		from b cross join a
		returning id
	)
	select id from b`,
)
