import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { stepTypes } from '../automations/automation-definition.ts'

export const visitStatuses = [
	'PENDING',
	'RUNNING',
	'WAITING',
	'COMPLETED',
	'SKIPPED',
	'FAILED',
] as const

/** One visit of an execution to a step. */
const schema = defineEntity({
	name: 'ExecutionStep',
	tableName: 'execution_steps',
	properties: {
		projectId: p.uuid().primary(),
		executionId: p.uuid().primary(),
		visit: p.integer().primary(),
		/** What the ledger calls a mail's step execution. */
		id: p.uuid().defaultRaw('uuidv7()'),
		stepId: p.uuid(),
		type: p.enum(stepTypes),
		status: p.enum(visitStatuses),
		output: p.json<Record<string, unknown>>().nullable(),
		/** Of an ended step, or of the latest call of a WEBHOOK that is being retried. */
		error: p.text().nullable(),
		/** The calls of a WEBHOOK that have had an outcome; null: none yet. */
		attempts: p.integer().nullable(),
		/** The event that ended a wait: it ends no other one of this execution. */
		eventId: p.uuid().nullable(),
		wakesAt: p.datetime(3).nullable(),
		startedAt: p.datetime(3).defaultRaw('now()'),
		completedAt: p.datetime(3).nullable(),
	},
})

export class ExecutionStep extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'executionId', 'visit']
}
schema.setClass(ExecutionStep)
