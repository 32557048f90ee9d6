import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, currentTrace } from '../columns.ts'
import { reference } from '../reference.ts'
import { isCleanup } from './cleanups.ts'

/** The allowed kinds. `schedule` updates an automation's Schedule from its row; `cancel` is not used. */
const outboxKinds = ['start', 'signal', 'cancel', 'terminate', 'schedule'] as const

/** Lower numbers come first, here and in Temporal's task queues. */
export const priorities = { transactional: 1, scheduled: 2, automation: 3, bulk: 5 } as const

/**
 * Calls to Temporal that are still to be made, written in the transaction of the change that needs them.
 */
const schema = defineEntity({
	name: 'Outbox',
	tableName: 'outbox',
	indexes: [
		{
			name: 'outbox_in_turn',
			properties: ['projectId', 'priority', 'id'],
			where: 'done_at is null',
		},
		{
			name: 'outbox_sends',
			properties: ['projectId', 'doneAt'],
			where: `workflow_type = 'send'`,
		},
		{ name: 'outbox_workflow', properties: ['workflowId'] },
		{ name: 'outbox_errands', properties: ['projectId', 'doneAt'], where: isCleanup },
	],
	properties: {
		id: p.bigint('number').primary().autoincrement(),
		projectId: p.uuid(),
		kind: p.enum(outboxKinds),
		priority: p.smallint().default(3),
		workflowType: p.text().nullable(),
		workflowId: p.text(),
		taskQueue: p.text().nullable(),
		/**
		 * A workflow's argument, or a signal's `{ name, argument }`. A signal with a workflow type starts that
		 * workflow with the argument if none is open, so no signal is lost to a run that is about to end.
		 */
		payload: p.json<unknown>().nullable(),
		summary: p.text().nullable(),
		/** Keywords beside ProjectId, by which operators find the run. */
		searchAttributes: p.json<Record<string, string>>().nullable(),
		/** The claim on this row ends at this time. */
		lockedUntil: p.datetime(3).nullable(),
		attempts: p.integer().default(0),
		nextAt: p.datetime(3).defaultRaw('now()'),
		/** When Temporal accepted it. */
		doneAt: p.datetime(3).nullable(),
		lastError: p.text().nullable(),
		/** The `traceparent` of the writer's connection, if tracing is on. */
		trace: p.text().nullable().defaultRaw(currentTrace),
		/** A claim covers several requests: the `traceparent`s of the others. */
		traceLinks: p.array().columnType('text[]').nullable(),
		createdAt: createdAt(),
	},
})

export class Outbox extends schema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = [
		'set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
	]
}
schema.setClass(Outbox)
