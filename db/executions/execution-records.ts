import type { Pool } from 'pg'
import type { DefinedStep, StepType } from '../automations/automation-definition.ts'
import { sizedColumns } from '../sorted-list.ts'
import { int, json, type RowOf, storedJson, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { sizeOfJson } from '../stored-json.ts'
import type { visitStatuses } from './execution-step.ts'
import { activeStatuses, type executionStatuses } from './execution.ts'
import { mailOfStep, outputOfStep } from './step-output.ts'

export interface StepName {
	id: string
	name: string
	type: StepType
}

const executionRecordColumns = {
	id: uuid,
	workflowId: uuid,
	version: int,
	contactId: uuid.orNull,
	status: text.of<(typeof executionStatuses)[number]>(),
	currentStepId: uuid.orNull,
	exitReason: text.orNull,
	error: text.orNull,
	context: storedJson,
	startedAt: timestamp,
	completedAt: timestamp.orNull,
	createdAt: timestamp,
	updatedAt: timestamp,
	contact: json<{ id: string; email: string }>().orNull,
	currentStep: json<StepName>().orNull,
	workflow: json<{ id: string; name: string }>(),
}
export type ExecutionRecord = RowOf<typeof executionRecordColumns>

const stepName = (steps: string, id: string) => `(
	select jsonb_build_object('id', defined->'id', 'name', defined->'name', 'type', defined->'type')
	from jsonb_array_elements(${steps}) defined where defined->>'id' = (${id})::text)`

/** The current step of an execution; an execution at its end has none. */
const stepOf = `case when x.status not in ('COMPLETED', 'EXITED') then x.current_step_id end`

const record = `x.id, x.automation_id as "workflowId", x.version, x.contact_id as "contactId", x.status,
	${stepOf} as "currentStepId", x.exit_reason as "exitReason", x.error, x.context::text as context,
	x.started_at as "startedAt", x.completed_at as "completedAt", x.created_at as "createdAt",
	x.updated_at as "updatedAt",
	case when c.id is not null then json_build_object('id', c.id, 'email', c.email) end as contact,
	${stepName(`v.definition->'steps'`, stepOf)} as "currentStep",
	json_build_object('id', a.id, 'name', a.name) as workflow`
const sources = `
	join automations a on a.project_id = x.project_id and a.id = x.automation_id
	join automation_versions v on v.project_id = x.project_id and v.automation_id = x.automation_id
		and v.version = x.version
	left join contacts c on c.project_id = x.project_id and c.id = x.contact_id`
/** A deleted automation's executions are still there for a while. */
const isThere = (automationId: string) =>
	`exists (select from automations a where a.project_id = $projectId and a.id = ${automationId})`
const wanted = `x.project_id = $projectId and x.automation_id = $automationId::uuid and ${isThere('$automationId')}
	and ($status::text is null or x.status = $status)
	and ($contactId::uuid is null or x.contact_id = $contactId)`

const listed = `select x.id, ${sizeOfJson('x.context')} as bytes from executions x`

/** Executions, newest first, and their number. */
const listing = (name: string, where: string) => ({
	list: statement(`list-${name}`, {
		params: {
			projectId: uuid,
			automationId: uuid,
			status: text.orNull,
			contactId: uuid.orNull,
			stepId: uuid.orNull,
			limit: int,
			offset: int,
		},
		row: sizedColumns,
		text: `${listed} where ${where} order by x.id desc limit $limit::int offset $offset::int`,
	}),
	count: statement(`count-${name}`, {
		params: {
			projectId: uuid,
			automationId: uuid,
			status: text.orNull,
			contactId: uuid.orNull,
			stepId: uuid.orNull,
		},
		row: { total: int },
		text: `select count(*)::int as total from executions x where ${where}`,
	}),
})

/** The step may be null. */
const all = listing('executions', `${wanted} and ($stepId::uuid is null or ${stepOf} = $stepId)`)
/** A separate statement, because a partial index is used only for a condition without parameters. */
const atStep = listing(
	'executions-at-step',
	`${wanted} and x.current_step_id = $stepId::uuid and x.status in ('RUNNING', 'WAITING')`,
)

export interface ExecutionFilter {
	status?: (typeof executionStatuses)[number]
	contactId?: string
	/** Without a status: only active executions. */
	stepId?: string
}

export async function listExecutions(
	pool: Pool,
	projectId: string,
	automationId: string,
	{ status, contactId, stepId }: ExecutionFilter,
	limit: number,
	offset: number,
) {
	const filter = {
		projectId,
		automationId,
		status: status ?? null,
		contactId: contactId ?? null,
		stepId: stepId ?? null,
	}
	const isActive = status === undefined || (activeStatuses as readonly string[]).includes(status)
	const { list, count } = stepId !== undefined && isActive ? atStep : all
	const [page, [counted]] = await Promise.all([
		list(pool, { ...filter, limit, offset }),
		count(pool, filter),
	])
	return { listed: page, total: counted!.total }
}

const ofContact = `x.project_id = $projectId and x.contact_id = $contactId::uuid and ${isThere('x.automation_id')}
	and ($status::text is null or x.status = $status)`
const ofContactParams = { projectId: uuid, contactId: uuid, status: text.orNull }

/** Of a contact, in all automations, newest first. */
export const executionsOfContact = statement('list-executions-of-contact', {
	params: { ...ofContactParams, limit: int, offset: int },
	row: sizedColumns,
	text: `${listed} where ${ofContact} order by x.id desc limit $limit::int offset $offset::int`,
})

export const countExecutionsOfContact = statement('count-executions-of-contact', {
	params: ofContactParams,
	row: { total: int },
	text: `select count(*)::int as total from executions x where ${ofContact}`,
})

/** The executions of a list's page, in its order. */
export const executionsOfPage = statement('executions-of-page', {
	params: { projectId: uuid, executionIds: uuid.array },
	row: executionRecordColumns,
	text: `select ${record} from executions x ${sources}
	where x.project_id = $projectId and x.id = any($executionIds::uuid[]) order by x.id desc`,
})

export const findExecution = statement('find-execution', {
	params: { projectId: uuid, automationId: uuid, executionId: uuid },
	row: executionRecordColumns,
	text: `select ${record} from executions x ${sources}
	where x.project_id = $projectId and x.automation_id = $automationId::uuid
		and x.id = $executionId::uuid`,
})

/**
 * The visits of an execution, in order. If there are very many visits, or their outputs are too large,
 * only the latest ones. A visit that was unfinished when its execution ended is shown as SKIPPED.
 */
export const visitsOf = statement('visits-of-execution', {
	params: { projectId: uuid, executionId: uuid, limit: int, mostBytes: int },
	row: {
		id: uuid,
		stepId: uuid,
		step: json<Pick<DefinedStep, 'id' | 'name' | 'type'>>(),
		status: text.of<(typeof visitStatuses)[number]>(),
		output: storedJson.orNull,
		error: text.orNull,
		attempts: int.orNull,
		startedAt: timestamp,
		completedAt: timestamp.orNull,
		wakesAt: timestamp.orNull,
	},
	text: `select s.id, s.step_id as "stepId",
		${stepName(`v.definition->'steps'`, 's.step_id')} as step,
		case when s.status in ('RUNNING', 'WAITING') and x.status not in ('RUNNING', 'WAITING')
			then 'SKIPPED' else s.status end as status,
		${outputOfStep}::text as output,
		s.error, s.attempts, s.started_at as "startedAt", s.completed_at as "completedAt",
		case when s.visit = x.visit then x.wakes_at end as "wakesAt"
	from (
		select *, coalesce(sum(octet_length(output::text)) over (order by visit desc
			rows between unbounded preceding and 1 preceding), 0) as later_bytes
		from (
			select * from execution_steps where project_id = $projectId
				and execution_id = $executionId::uuid
			order by visit desc limit $limit::int) latest) s
	join executions x on x.project_id = s.project_id and x.id = s.execution_id
	join automation_versions v on v.project_id = x.project_id and v.automation_id = x.automation_id
		and v.version = x.version
	${mailOfStep}
	where s.later_bytes < $mostBytes::int
	order by s.visit`,
})
