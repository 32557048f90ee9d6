import type { AutomationDefinition, StepType } from '../automations/automation-definition.ts'
import { contactColumns, contactFrom } from '../contacts/contact-record.ts'
import { bool, float, int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { heardEventColumns, type HeardEvent } from './execution.ts'
import { pauseTypes, stopTypes } from './execution-step.ts'
import { latestOutputs, mailOfStep, outputOfStep } from './step-output.ts'

// Reads and writes for moving an execution. A move is one transaction with two locks that everybody takes in
// this order: the contact's row, then the execution's. A call of a server takes none of them while it reads.

/** The key that workflows and activities pass on. */
export interface ExecutionKey {
	projectId: string
	executionId: string
}

const contactOfExecution = {
	params: { projectId: uuid, executionId: uuid },
	row: contactColumns,
	text: `select ${contactFrom('c')}
	from executions x join contacts c on c.project_id = x.project_id and c.id = x.contact_id
	where x.project_id = $projectId and x.id = $executionId`,
}

/** No row: the execution or its contact was deleted. */
export const lockContact = statement('lock-contact-of-execution', {
	...contactOfExecution,
	text: `${contactOfExecution.text}
	for no key update of c`,
})

/** The same without its lock: a move may hold it for seconds. */
export const readContact = statement('contact-of-execution', contactOfExecution)

export type StoppedExecution = RowOf<typeof lockExecution>

const stoppedExecution = {
	params: { projectId: uuid, executionId: uuid },
	row: {
		status: text,
		visit: int,
		currentStepId: uuid.orNull,
		context: json<Record<string, unknown>>(),
		event: json<HeardEvent>().orNull,
		startedAt: timestamp,
		/** The start of the current stop, or of the latest one before. */
		stopBeganAt: timestamp,
		/** When that was reached: events since then count for a wait. */
		stopReachedAt: timestamp,
		isWaiting: bool,
		/** The time until it wakes; null: it never wakes by itself. */
		remainingMs: float.orNull,
		/** The status of its current visit. */
		visitStatus: text.orNull,
		visitError: text.orNull,
		visitHasOutput: bool,
		visitAttempts: int.orNull,
		visitReachedAt: timestamp.orNull,
		visitWakesAt: timestamp.orNull,
		visitCompletedAt: timestamp.orNull,
		/** For a failed DELAY or WAIT_FOR_EVENT: its time was over, so a later step failed. */
		hasSlept: bool,
		now: timestamp,
		automationId: uuid,
		automationName: text,
		definition: json<AutomationDefinition>(),
		projectName: text,
		language: text,
		isDisabled: bool,
	},
	text: `select x.status, x.visit, x.current_step_id as "currentStepId", x.context, x.event,
		x.started_at as "startedAt", x.wait_event_name is not null as "isWaiting",
		extract(epoch from x.wakes_at - now())::float8 * 1000 as "remainingMs",
		s.status as "visitStatus", s.error as "visitError", s.attempts as "visitAttempts",
		s.output is not null as "visitHasOutput",
		s.reached_at as "visitReachedAt", s.wakes_at as "visitWakesAt", s.completed_at as "visitCompletedAt",
		-- An event during a failure counts for the next try. Clocks may differ a little.
		coalesce(s.status = 'FAILED' and s.wakes_at <= case s.type when 'DELAY' then now()
			else s.completed_at + interval '1 second' end, false) as "hasSlept",
		now()::timestamptz(3) as now,
		coalesce(stop.started_at, x.started_at) as "stopBeganAt",
		coalesce(stop.reached_at, stop.started_at, x.started_at) as "stopReachedAt",
		a.id as "automationId", a.name as "automationName", v.definition,
		p.name as "projectName", p.language, p.disabled_reason is not null as "isDisabled"
	from executions x
	join automations a on a.project_id = x.project_id and a.id = x.automation_id
	join automation_versions v on v.project_id = x.project_id and v.automation_id = x.automation_id
		and v.version = x.version
	join projects p on p.id = x.project_id
	left join execution_steps s on s.project_id = x.project_id and s.execution_id = x.id
		and s.visit = x.visit
	left join lateral (
		select started_at, reached_at from execution_steps before
		where before.project_id = x.project_id and before.execution_id = x.id
			and before.type in ('${stopTypes.join("', '")}')
		order by before.visit desc limit 1) stop on true
	where x.project_id = $projectId and x.id = $executionId`,
}

export const lockExecution = statement('lock-execution', {
	...stoppedExecution,
	text: `${stoppedExecution.text}
	for no key update of x`,
})

/** The same without its lock. */
export const readExecution = statement('stopped-execution', stoppedExecution)

/** How many steps have been taken since the last pause. A step that failed was tried again, except a refused mail. */
export const stepsSincePause = statement('steps-since-pause', {
	params: { projectId: uuid, executionId: uuid },
	row: { count: int },
	text: `select count(*)::int as count from execution_steps
	where project_id = $projectId and execution_id = $executionId
		and (status = 'COMPLETED' or (status = 'FAILED' and type = 'SEND_EMAIL' and output is not null))
		and visit > coalesce((
		select visit from execution_steps
		where project_id = $projectId and execution_id = $executionId and type in ('${pauseTypes.join("', '")}')
		order by visit desc limit 1), 0)`,
})

/**
 * The latest output of each step. A workflow of 500 steps could have 32 MB of them. Beyond `maxBytes`, newest
 * first, only outputs of less than 1 KB are read.
 */
export const outputsOf = statement('outputs-of-execution', {
	params: { projectId: uuid, executionId: uuid, stepIds: uuid.array, maxBytes: int },
	row: { stepId: uuid, output: json<Record<string, unknown>>() },
	text: `select s.step_id as "stepId", ${outputOfStep} as output
	from (
		select *, sum(bytes) over (order by visit desc) as bytes_so_far
		from (${latestOutputs}) latest
		cross join lateral (select octet_length(latest.output::text) as bytes) size) s
	${mailOfStep}
	where s.bytes_so_far <= $maxBytes::int or s.bytes < 1024`,
})

/**
 * The first event of a name since a given time that neither started this execution nor ended another of
 * its waits. Older events have two times: their `created_at` is the start of their transaction, and their
 * id has the time of writing. In long transactions the two differ. An id is never earlier than its `created_at`, so the
 * bound of ids leaves out the tables of earlier months.
 */
export const eventSince = statement('event-since', {
	params: {
		projectId: uuid,
		executionId: uuid,
		eventName: text,
		since: timestamp,
		/** Events that have just ended waits. */
		heardIds: uuid.array,
	},
	row: heardEventColumns,
	text: `select e.id, e.name, event_data(e.name, e.data, e.project_id, e.email_id) as data,
		iso_text(e.created_at) as "createdAt"
	from executions x
	cross join lateral (
		select id, name, data, project_id, email_id, created_at from events e
		where e.contact_id = x.contact_id and e.name = $eventName::text
			and e.id >= first_id_at($since::timestamptz - interval '1 hour')
			and e.created_at >= $since::timestamptz - interval '1 hour'
			and greatest(e.created_at, uuid_extract_timestamp(e.id)) >= $since::timestamptz
		union all
		select id, name, data, project_id, email_id, created_at
		from sent_mails_to(x.project_id, x.contact_id, $since, 'infinity') where $eventName = 'email.sent'
	) e
	where x.project_id = $projectId and x.id = $executionId and e.id is distinct from x.trigger_event_id
		and e.id <> all($heardIds::uuid[]) and not exists (
			select from execution_steps s
			where s.project_id = $projectId and s.execution_id = $executionId and s.event_id = e.id)
	order by e.created_at, e.id limit 1`,
})

/**
 * Sets the execution behind this transaction's events, so that none of them starts an automation that led
 * to it.
 */
export const emitAs = statement('emit-as-execution', {
	params: { executionId: uuid },
	text: `select set_config('tempost.execution', $executionId::uuid::text, true)`,
})

/** One visit in its latest state, which replaces earlier ones. */
export interface Visit {
	visit: number
	/** Only set if the ledger already refers to it. */
	id?: string
	stepId: string
	type: StepType
	status: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'FAILED'
	output?: Record<string, unknown> | null
	error?: string | null
	eventId?: string | null
	wakesInMs?: number | null
	/** Not given again when the visit ends. */
	reachedAt?: Date
}

/** Writes an execution's progress. Its wait and its time-out count from now. */
export const moveExecution = statement('move-execution', {
	params: {
		projectId: uuid,
		executionId: uuid,
		visits: json<Visit[]>(),
		status: text,
		stepId: uuid.orNull,
		visit: int,
		exitReason: text.orNull,
		error: text.orNull,
		event: json<HeardEvent>().orNull,
		waitsFor: text.orNull,
		wakesInMs: float.orNull,
	},
	text: `with visited as (
		select * from jsonb_to_recordset($visits::jsonb) as v(visit int, id uuid, "stepId" uuid,
			type text, status text, output jsonb, error text, "eventId" uuid, "wakesInMs" float8, "reachedAt" timestamptz)
	), written as (
		insert into execution_steps as s (project_id, execution_id, visit, id, step_id, type, status,
			output, error, event_id, wakes_at, reached_at, completed_at)
		select $projectId, $executionId, visit, coalesce(id, uuidv7()), "stepId", type, status,
			output, error, "eventId",
			now() + make_interval(secs => "wakesInMs" / 1000), "reachedAt",
			case when status in ('COMPLETED', 'FAILED') then now() end
		from visited order by visit
		on conflict (project_id, execution_id, visit) do update set
			status = excluded.status, output = coalesce(excluded.output, s.output),
			error = excluded.error, event_id = excluded.event_id,
			completed_at = coalesce(s.completed_at, excluded.completed_at)
	)
	update executions set
		status = $status::text, current_step_id = $stepId::uuid, visit = $visit::int,
		exit_reason = $exitReason::text,
		error = $error::text, event = $event::jsonb, wait_event_name = $waitsFor::text,
		wakes_at = now() + make_interval(secs => $wakesInMs::float8 / 1000),
		due_at = case $status::text
			when 'RUNNING' then now()
			when 'WAITING' then now() + make_interval(secs => $wakesInMs::float8 / 1000) end,
		completed_at = case when $status::text not in ('RUNNING', 'WAITING') then now() end,
		updated_at = now()
	where project_id = $projectId and id = $executionId`,
})

/**
 * Ends an execution that can't continue, unless it has already ended. A wait whose event has arrived stays
 * as it is, because a later step failed.
 */
export const failExecution = statement('fail-execution', {
	params: { projectId: uuid, executionId: uuid, error: text },
	text: `with failed as (
		update executions set status = 'FAILED', error = $error::text, wait_event_name = null,
			wakes_at = null, due_at = null, completed_at = now(), updated_at = now()
		where project_id = $projectId and id = $executionId and status in ('RUNNING', 'WAITING')
		returning project_id, id, visit, old.wait_event_name
	)
	update execution_steps s set status = 'FAILED', error = $error::text, completed_at = now()
	from failed f where s.project_id = f.project_id and s.execution_id = f.id and s.visit = f.visit
		and s.status in ('RUNNING', 'WAITING')
		and (s.type <> 'WAIT_FOR_EVENT' or f.wait_event_name is not null)`,
})
