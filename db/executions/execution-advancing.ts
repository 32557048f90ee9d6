import type { AutomationDefinition, StepType } from '../automations/automation-definition.ts'
import { type ContactRecord, contactRecord } from '../contacts/contact-record.ts'
import { statement } from '../statement.ts'
import type { HeardEvent } from './execution.ts'
import { mailOfStep, outputOfStep } from './step-output.ts'

// What moving an execution reads and writes, all of it in one transaction, and under two locks that
// everybody takes in this order: the contact's row, then the execution's.

/** What crosses into workflows and activities. */
export interface ExecutionKey {
	projectId: string
	executionId: string
}

/** No row: the execution is gone, or its contact. $1 project, $2 execution */
export const lockContact = statement<ContactRecord>(
	'lock-contact-of-execution',
	`select ${contactRecord('c')}
	from executions x join contacts c on c.project_id = x.project_id and c.id = x.contact_id
	where x.project_id = $1 and x.id = $2
	for no key update of c`,
)

export interface StandingExecution {
	status: string
	visit: number
	currentStepId: string | null
	context: Record<string, unknown>
	event: HeardEvent | null
	startedAt: Date
	/** Of the stop it stands at, or of the latest before it: since then events count for a wait. */
	stopBeganAt: Date
	isWaiting: boolean
	/** Until it wakes; null: it does not by itself. */
	remainingMs: number | null
	/** Of the visit it stands at. */
	visitStatus: string | null
	visitError: string | null
	/** Of a DELAY or a WAIT_FOR_EVENT that has failed: its time was over, so what failed came after it. */
	hasSlept: boolean
	now: Date
	automationId: string
	automationName: string
	definition: AutomationDefinition
	projectName: string
	language: string
	isDisabled: boolean
}

/** $1 project, $2 execution */
export const lockExecution = statement<StandingExecution>(
	'lock-execution',
	`select x.status, x.visit, x.current_step_id as "currentStepId", x.context, x.event,
		x.started_at as "startedAt", x.wait_event_name is not null as "isWaiting",
		extract(epoch from x.wakes_at - now())::float8 * 1000 as "remainingMs",
		s.status as "visitStatus", s.error as "visitError",
		-- An event that comes while it is failed counts for the next try; clocks differ a little.
		coalesce(s.status = 'FAILED' and s.wakes_at <= case s.type when 'DELAY' then now()
			else s.completed_at + interval '1 second' end, false) as "hasSlept",
		now()::timestamptz(3) as now,
		coalesce((
			select started_at from execution_steps before
			where before.project_id = x.project_id and before.execution_id = x.id
				and before.type in ('SEND_EMAIL', 'DELAY', 'WAIT_FOR_EVENT', 'WEBHOOK')
			order by before.visit desc limit 1), x.started_at) as "stopBeganAt",
		a.id as "automationId", a.name as "automationName", v.definition,
		p.name as "projectName", p.language, p.disabled_reason is not null as "isDisabled"
	from executions x
	join automations a on a.project_id = x.project_id and a.id = x.automation_id
	join automation_versions v on v.project_id = x.project_id and v.automation_id = x.automation_id
		and v.version = x.version
	join projects p on p.id = x.project_id
	left join execution_steps s on s.project_id = x.project_id and s.execution_id = x.id
		and s.visit = x.visit
	where x.project_id = $1 and x.id = $2
	for no key update of x`,
)

/** What each step has brought, the latest time. $1 project, $2 execution */
export const outputsOf = statement<{ stepId: string; output: Record<string, unknown> }>(
	'outputs-of-execution',
	`select distinct on (s.step_id) s.step_id as "stepId",
		${outputOfStep}
	from execution_steps s
	${mailOfStep}
	where s.project_id = $1 and s.execution_id = $2 and s.output is not null
	order by s.step_id, s.visit desc`,
)

/**
 * The first event of a name since a moment that has not ended another wait of this execution, nor begun
 * it. Older events have the moment at which their transaction began, and in their id the one at which
 * they were written; in work on many contacts the two lie apart.
 * $1 project, $2 execution, $3 name, $4 since, $5 events that ended waits a moment ago
 */
export const eventSince = statement<HeardEvent>(
	'event-since',
	`select e.id, e.name, e.data,
		to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
	from executions x
	join events e on e.project_id = x.project_id and e.contact_id = x.contact_id
		and e.name = $3::text and e.created_at >= $4::timestamptz - interval '1 hour'
		and greatest(e.created_at, uuid_extract_timestamp(e.id)) >= $4::timestamptz
	where x.project_id = $1 and x.id = $2 and e.id is distinct from x.trigger_event_id
		and e.id <> all($5::uuid[]) and not exists (
			select from execution_steps s
			where s.project_id = $1 and s.execution_id = $2 and s.event_id = e.id)
	order by e.created_at, e.id limit 1`,
)

/**
 * Names the execution behind the events of this transaction: none of them starts an automation that led
 * to it. $1 execution
 */
export const emitAs = statement(
	'emit-as-execution',
	`select set_config('tempost.execution', $1::uuid::text, true)`,
)

/** One visit as it was left; an earlier state of the same visit gives way. */
export interface Visit {
	visit: number
	/** Only where the ledger already names it. */
	id?: string
	stepId: string
	type: StepType
	status: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'FAILED'
	output?: Record<string, unknown> | null
	error?: string | null
	eventId?: string | null
	wakesInMs?: number | null
}

/**
 * Writes how far an execution has come. What it waits for and until when counts from now.
 *
 * $1 project, $2 execution, $3 [Visit], $4 status, $5 step, $6 visit, $7 exit reason, $8 error,
 * $9 event, $10 the event's name that it waits for, $11 ms until it wakes
 */
export const moveExecution = statement(
	'move-execution',
	`with visited as (
		select * from jsonb_to_recordset($3::jsonb) as v(visit int, id uuid, "stepId" uuid, type text,
			status text, output jsonb, error text, "eventId" uuid, "wakesInMs" float8)
	), written as (
		insert into execution_steps as s (project_id, execution_id, visit, id, step_id, type, status,
			output, error, event_id, wakes_at, completed_at)
		select $1, $2, visit, coalesce(id, uuidv7()), "stepId", type, status, output, error, "eventId",
			now() + make_interval(secs => "wakesInMs" / 1000),
			case when status in ('COMPLETED', 'FAILED') then now() end
		from visited order by visit
		on conflict (project_id, execution_id, visit) do update set
			status = excluded.status, output = coalesce(excluded.output, s.output),
			error = coalesce(excluded.error, s.error), event_id = excluded.event_id,
			completed_at = coalesce(s.completed_at, excluded.completed_at)
	)
	update executions set
		status = $4::text, current_step_id = $5::uuid, visit = $6::int, exit_reason = $7::text,
		error = $8::text, event = $9::jsonb, wait_event_name = $10::text,
		wakes_at = now() + make_interval(secs => $11::float8 / 1000),
		due_at = case $4::text
			when 'RUNNING' then now()
			when 'WAITING' then now() + make_interval(secs => $11::float8 / 1000) end,
		completed_at = case when $4::text not in ('RUNNING', 'WAITING') then now() end,
		updated_at = now()
	where project_id = $1 and id = $2`,
)

/**
 * Ends an execution that cannot go on, unless it has ended. A wait whose event has come is left as it
 * is: what failed came after it. $1 project, $2 execution, $3 error
 */
export const failExecution = statement(
	'fail-execution',
	`with failed as (
		update executions set status = 'FAILED', error = $3::text, wait_event_name = null,
			wakes_at = null, due_at = null, completed_at = now(), updated_at = now()
		where project_id = $1 and id = $2 and status in ('RUNNING', 'WAITING')
		returning project_id, id, visit, old.wait_event_name
	)
	update execution_steps s set status = 'FAILED', error = $3::text, completed_at = now()
	from failed f where s.project_id = f.project_id and s.execution_id = f.id and s.visit = f.visit
		and s.status in ('RUNNING', 'WAITING')
		and (s.type <> 'WAIT_FOR_EVENT' or f.wait_event_name is not null)`,
)
