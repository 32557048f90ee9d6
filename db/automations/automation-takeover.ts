import { priorities } from '../outbox/outbox.ts'
import { text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { stepsInForce } from './automation-usage.ts'

/** Steps that send the data of contacts to an address of the author's choice. */
const sendsElsewhere = `(s.type = 'WEBHOOK'
	or s.type = 'SEND_EMAIL' and s.config -> 'recipient' ->> 'type' = 'CUSTOM')`

/**
 * Disables the automations of a project that send the data of contacts to addresses which a former user chose. Also
 * queues the cancellation of their active executions, which may be many. Lock the project first, so that no automation
 * is changed meanwhile.
 */
export const secureAutomations = statement('secure-automations', {
	params: { projectId: uuid, taskQueue: text },
	text: `with suspect as materialized (
		select distinct s.automation_id as id from ${stepsInForce} s where ${sendsElsewhere}
	), disabled as (
		update automations a set enabled = false, updated_at = now() from suspect s
		where a.project_id = $projectId and a.id = s.id and a.enabled
	)
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select $projectId, 'start', ${priorities.automation}, 'cancelExecutions',
		'cancel-executions/' || $projectId::text, $taskQueue::text,
		jsonb_build_object('projectId', $projectId::uuid, 'automationIds', jsonb_agg(id)),
		'its account has a new owner'
	from suspect having count(*) > 0`,
})
