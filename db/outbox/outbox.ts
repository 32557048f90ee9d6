import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, noteTrace } from '../columns.ts'
import { isErrand } from './errands.ts'

/**
 * What the table allows. `schedule`: the Schedule of an automation is to be made what the row says by then;
 * `cancel` is written by nobody.
 */
const outboxKinds = ['start', 'signal', 'cancel', 'terminate', 'schedule'] as const

/** Smaller goes first, here and in Temporal's task queues. */
export const priorities = { transactional: 1, automation: 3, bulk: 5 } as const

/** What Temporal is still to be told, written in the transaction that makes it true. */
const schema = defineEntity({
	name: 'Outbox',
	tableName: 'outbox',
	indexes: [
		{ name: 'outbox_waiting', properties: ['priority', 'id'], where: 'done_at is null' },
		{
			name: 'outbox_sends',
			properties: ['projectId', 'doneAt'],
			where: `workflow_type = 'send'`,
		},
		{ name: 'outbox_workflow', properties: ['workflowId'] },
		{ name: 'outbox_errands', properties: ['projectId', 'doneAt'], where: isErrand },
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
		 * A workflow's argument, or a signal's `{ name, argument }`. A signal with a workflow's type starts one
		 * with that argument where none is open: no word is lost to a run that is about to end.
		 */
		payload: p.json<unknown>().nullable(),
		summary: p.text().nullable(),
		/** Keywords beside ProjectId by which an operator finds the run. */
		searchAttributes: p.json<Record<string, string>>().nullable(),
		/** Whoever claimed it has until then to tell Temporal. */
		lockedUntil: p.datetime(3).nullable(),
		attempts: p.integer().default(0),
		nextAt: p.datetime(3).defaultRaw('now()'),
		/** When Temporal took it. */
		doneAt: p.datetime(3).nullable(),
		lastError: p.text().nullable(),
		/** The `traceparent` of whoever writes it, if somebody follows: each connection knows of itself. */
		trace: p.text().nullable().defaultRaw(noteTrace),
		/** A claim is about several requests: of the others. */
		traceLinks: p.array().columnType('text[]').nullable(),
		createdAt: createdAt(),
	},
})

export class Outbox extends schema.class {}
schema.setClass(Outbox)
