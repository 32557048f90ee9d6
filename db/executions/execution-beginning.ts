import { priorities } from '../outbox/outbox.ts'
import { json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * The rows for Temporal that every start of executions writes. `b` are the new executions, `a` is their
 * automation.
 */
const startRuns = (taskQueue: string, nextAt = 'now()') => `
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload,
		summary, search_attributes, next_at)
	select b.project_id, 'start', ${priorities.automation}, 'automation', 'automation/' || b.id, ${taskQueue},
		jsonb_build_object('projectId', b.project_id, 'executionId', b.id),
		a.name || ', version ' || b.version,
		jsonb_build_object('AutomationId', b.automation_id, 'ContactId', b.contact_id), ${nextAt}`

/**
 * Locks the contacts that exist, in order. Under this lock every starter of executions checks whether a
 * contact already has one.
 */
export const lockContacts = statement('lock-contacts', {
	params: { projectId: uuid, contactIds: uuid.array },
	row: { id: uuid },
	text: `select id from contacts where project_id = $projectId and id = any($contactIds::uuid[])
	order by id for no key update`,
})

/**
 * Starts executions for locked contacts, if the re-entry rule allows: without re-entry any earlier
 * execution prevents it, with re-entry only an active one. A trigger does the same for events.
 */
export const beginExecutions = statement('begin-executions', {
	params: {
		projectId: uuid,
		automationId: uuid,
		contactIds: uuid.array,
		context: json<object>(),
		scheduledFor: timestamp.orNull,
		taskQueue: text,
	},
	row: { id: uuid },
	text: `with automation as (
		select id, name, current_version, allow_reentry from automations
		where project_id = $projectId and id = $automationId::uuid and enabled for key share
	), begun as (
		insert into executions (project_id, automation_id, version, contact_id, allow_reentry, context,
			scheduled_for)
		select $projectId, a.id, a.current_version, c.id, a.allow_reentry, $context::jsonb,
			$scheduledFor::timestamptz
		from automation a cross join unnest($contactIds::uuid[]) as c(id)
		where not exists (
			select from executions x
			where x.contact_id = c.id and x.automation_id = a.id
				and (not a.allow_reentry or x.status in ('RUNNING', 'WAITING')) offset 0)
		order by c.id
		on conflict do nothing
		returning project_id, id, automation_id, version, contact_id
	), started as (${startRuns('$taskQueue::text')}
		from begun b cross join automation a order by b.id
	)
	select id from begun`,
})

/**
 * Lets a failed execution continue with its failed step. No row: it has not failed, doesn't exist, or its
 * contact was deleted. The failed run may take a moment to close; a start before that would find the old
 * run. As with all starts, a lock keeps the automation from being deleted meanwhile.
 */
export const retryExecution = statement('retry-execution', {
	params: { projectId: uuid, automationId: uuid, executionId: uuid, taskQueue: text },
	row: { id: uuid },
	text: `with a as (
		select id, name from automations where project_id = $projectId
			and id = $automationId::uuid for key share
	), b as (
		update executions x set status = 'RUNNING', error = null, completed_at = null, due_at = now(),
			updated_at = now()
		from a
		where x.project_id = $projectId and x.automation_id = a.id and x.id = $executionId::uuid
			and x.status = 'FAILED'
			and x.contact_id is not null
		returning x.project_id, x.id, x.automation_id, x.version, x.contact_id
	), started as (${startRuns('$taskQueue::text', `now() + interval '1 second'`)}
		from b cross join a
		returning id
	)
	select id from b`,
})
