import type { Pool } from 'pg'
import type { DefinedStep, StepType } from '../automations/automation-definition.ts'
import { statement } from '../statement.ts'
import type { visitStatuses } from './execution-step.ts'
import { activeStatuses, type executionStatuses } from './execution.ts'
import { mailOfStep, outputOfStep } from './step-output.ts'

export interface StepName {
	id: string
	name: string
	type: StepType
}

export interface ExecutionRecord {
	id: string
	workflowId: string
	version: number
	contactId: string | null
	status: (typeof executionStatuses)[number]
	currentStepId: string | null
	exitReason: string | null
	error: string | null
	context: Record<string, unknown>
	startedAt: Date
	completedAt: Date | null
	createdAt: Date
	updatedAt: Date
	contact: { id: string; email: string } | null
	currentStep: StepName | null
	workflow: { id: string; name: string }
}

const stepName = (steps: string, id: string) => `(
	select jsonb_build_object('id', defined->'id', 'name', defined->'name', 'type', defined->'type')
	from jsonb_array_elements(${steps}) defined where defined->>'id' = (${id})::text)`

/** The step that an execution is at; one that reached its end is at none. */
const stepOf = `case when x.status not in ('COMPLETED', 'EXITED') then x.current_step_id end`

const record = `x.id, x.automation_id as "workflowId", x.version, x.contact_id as "contactId", x.status,
	${stepOf} as "currentStepId", x.exit_reason as "exitReason", x.error, x.context,
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
const wanted = `x.project_id = $1 and x.automation_id = $2::uuid
	and ($3::text is null or x.status = $3) and ($4::uuid is null or x.contact_id = $4)`

/**
 * Executions, newest first, and how many there are. $1 project, $2 automation, $3 status or null,
 * $4 contact or null, $5 step, $6 limit, $7 offset
 */
const listing = (name: string, where: string) => ({
	list: statement<ExecutionRecord>(
		`list-${name}`,
		`select ${record} from (
			select * from executions x where ${where} order by x.id desc limit $6::int offset $7::int) x
		${sources} order by x.id desc`,
	),
	count: statement<{ total: number }>(
		`count-${name}`,
		`select count(*)::int as total from executions x where ${where}`,
	),
})

/** The step may be null. */
const all = listing('executions', `${wanted} and ($5::uuid is null or ${stepOf} = $5)`)
/** A text of its own, because a partial index serves only a condition without parameters. */
const atStep = listing(
	'executions-at-step',
	`${wanted} and x.current_step_id = $5::uuid and x.status in ('RUNNING', 'WAITING')`,
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
	const filter = [projectId, automationId, status ?? null, contactId ?? null, stepId ?? null]
	const isActive = status === undefined || (activeStatuses as readonly string[]).includes(status)
	const { list, count } = stepId !== undefined && isActive ? atStep : all
	const [rows, [counted]] = await Promise.all([
		list(pool, [...filter, limit, offset]),
		count(pool, filter),
	])
	return { rows, total: counted!.total }
}

/** $1 project, $2 automation, $3 execution */
export const findExecution = statement<ExecutionRecord>(
	'find-execution',
	`select ${record} from executions x ${sources}
	where x.project_id = $1 and x.automation_id = $2::uuid and x.id = $3::uuid`,
)

export interface VisitRecord {
	id: string
	stepId: string
	step: Pick<DefinedStep, 'id' | 'name' | 'type'>
	status: (typeof visitStatuses)[number]
	output: Record<string, unknown> | null
	error: string | null
	attempts: number | null
	startedAt: Date
	completedAt: Date | null
	wakesAt: Date | null
}

/**
 * The visits of an execution, in their order; of very many the latest, and of outputs that come to more
 * than so many bytes, too. Where it stood when somebody ended it, it went no further.
 * $1 project, $2 execution, $3 how many at most, $4 bytes
 */
export const visitsOf = statement<VisitRecord>(
	'visits-of-execution',
	`select s.id, s.step_id as "stepId",
		${stepName(`v.definition->'steps'`, 's.step_id')} as step,
		case when s.status in ('RUNNING', 'WAITING') and x.status not in ('RUNNING', 'WAITING')
			then 'SKIPPED' else s.status end as status,
		${outputOfStep},
		s.error, s.attempts, s.started_at as "startedAt", s.completed_at as "completedAt",
		case when s.visit = x.visit then x.wakes_at end as "wakesAt"
	from (
		select *, coalesce(sum(octet_length(output::text)) over (order by visit desc
			rows between unbounded preceding and 1 preceding), 0) as later_bytes
		from (
			select * from execution_steps where project_id = $1 and execution_id = $2::uuid
			order by visit desc limit $3::int) latest) s
	join executions x on x.project_id = s.project_id and x.id = s.execution_id
	join automation_versions v on v.project_id = x.project_id and v.automation_id = x.automation_id
		and v.version = x.version
	${mailOfStep}
	where s.later_bytes < $4::int
	order by s.visit`,
)
