import { priorities } from '../outbox/outbox.ts'
import { json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * The rows for Temporal that every start of executions writes. `b` are the new executions, `a` is their
 * automation.
 */
export const startRuns = (taskQueue: string, nextAt = 'now()') => `
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
 * The re-entry rule, for a contact `c` and an automation `a`: without re-entry any earlier execution prevents another,
 * with re-entry only an active one. A trigger does the same for events.
 */
const mayEnter = `not exists (
			select from executions x
			where x.contact_id = c.id and x.automation_id = a.id
				and (not a.allow_reentry or x.status in ('RUNNING', 'WAITING')) offset 0)`

/** Contacts that others begin meanwhile are among them. It saves locks of those that have entered before. */
export const contactsThatMayEnter = statement('find-contacts-that-may-enter', {
	params: { projectId: uuid, automationId: uuid, contactIds: uuid.array },
	row: { id: uuid },
	text: `select c.id from automations a cross join unnest($contactIds::uuid[]) as c(id)
	where a.project_id = $projectId and a.id = $automationId::uuid and ${mayEnter}
	order by c.id`,
})

/** Starts executions for locked contacts, if the re-entry rule allows. */
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
		where ${mayEnter}
		order by c.id
		on conflict do nothing
		returning project_id, id, automation_id, version, contact_id
	), started as (${startRuns('$taskQueue::text')}
		from begun b cross join automation a order by b.id
	)
	select id from begun`,
})

/** The time by which executions had begun or failed, for work that takes several statements. */
export const readClock = statement('read-clock', {
	params: {},
	row: { now: timestamp },
	text: 'select clock_timestamp() as now',
})
