import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { type StepType, stepTypes } from '../automations/automation-definition.ts'
import { reference } from '../reference.ts'

export const visitStatuses = [
	'PENDING',
	'RUNNING',
	'WAITING',
	'COMPLETED',
	'SKIPPED',
	'FAILED',
] as const

/** The execution stops here until time, an event or an answer lets it continue. */
export const pauseTypes = ['DELAY', 'WAIT_FOR_EVENT', 'WEBHOOK'] satisfies StepType[]

/** Events since the last of these was reached count for a wait. */
export const stopTypes = ['SEND_EMAIL', ...pauseTypes] satisfies StepType[]

/** One visit of an execution to a step. */
const schema = defineEntity({
	name: 'ExecutionStep',
	tableName: 'execution_steps',
	indexes: [
		// An execution in a circle has many visits. Its moves read the latest output of each step.
		{
			name: 'execution_steps_outputs',
			properties: ['executionId', 'stepId', 'visit'],
			where: 'output is not null',
		},
		// Whether an event has ended a wait of an execution.
		{
			name: 'execution_steps_events',
			properties: ['executionId', 'eventId'],
			where: 'event_id is not null',
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		executionId: p.uuid().primary(),
		visit: p.integer().primary(),
		/** The id of the step execution in the ledger. */
		id: p.uuid().defaultRaw('uuidv7()'),
		stepId: p.uuid(),
		type: p.enum(stepTypes),
		status: p.enum(visitStatuses),
		output: p.json<Record<string, unknown>>().nullable(),
		/** The error of a failed step, or of the latest call of a WEBHOOK that is being retried. */
		error: p.text().nullable(),
		/** The calls of a WEBHOOK with a known outcome; null: none yet. */
		attempts: p.integer().nullable(),
		/** The event that ended a wait. It ends no other wait of this execution. */
		eventId: p.uuid().nullable(),
		wakesAt: p.datetime(3).nullable(),
		/** Of a WEBHOOK whose first call failed: the time of that call. */
		startedAt: p.datetime(3).defaultRaw('now()'),
		/** When what came before it was over, however late a worker continued. Null for older ones: when they started. */
		reachedAt: p.datetime(3).nullable(),
		completedAt: p.datetime(3).nullable(),
	},
})

export class ExecutionStep extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'executionId', 'visit']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'executionId'], 'executions', 'cascade'),
	]
}
schema.setClass(ExecutionStep)
