import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'
import { reference } from '../reference.ts'
import { json, type RowOf, text, uuid } from '../sql-types.ts'

export const activeStatuses = ['RUNNING', 'WAITING'] as const
export const executionStatuses = [
	...activeStatuses,
	'COMPLETED',
	'EXITED',
	'FAILED',
	'CANCELLED',
] as const

/** The event that started an execution, or the latest one that woke it. */
export const heardEventColumns = {
	id: uuid,
	name: text,
	data: json<Record<string, unknown>>(),
	createdAt: text,
}
export type HeardEvent = RowOf<typeof heardEventColumns>

/**
 * One contact on its way through one version of an automation. Between transactions it is at exactly one
 * step, that of its latest visit. Moving it requires the lock on the contact's row, then on this one.
 */
const schema = defineEntity({
	name: 'Execution',
	tableName: 'executions',
	uniques: [
		{
			name: 'executions_active',
			properties: ['projectId', 'automationId', 'contactId'],
			where: `status in ('RUNNING', 'WAITING')`,
		},
		{
			name: 'executions_once',
			properties: ['projectId', 'automationId', 'contactId'],
			where: 'not allow_reentry',
		},
		{
			name: 'executions_scheduled',
			properties: ['projectId', 'automationId', 'contactId', 'scheduledFor'],
			where: 'scheduled_for is not null',
		},
	],
	indexes: [
		{ name: 'executions_newest', properties: ['projectId', 'automationId', 'id'] },
		{
			name: 'executions_failed',
			properties: ['projectId', 'automationId', 'id'],
			where: `status = 'FAILED'`,
		},
		{ name: 'executions_of_contact', properties: ['contactId', 'automationId'] },
		{
			name: 'executions_waiting',
			properties: ['contactId', 'waitEventName'],
			where: 'wait_event_name is not null',
		},
		{ name: 'executions_due', properties: ['dueAt'], where: 'due_at is not null' },
		{
			name: 'executions_upcoming',
			expression: (columns, table, name) =>
				`create index ${name} on ${table.name} (${columns.projectId}, coalesce(${columns.wakesAt}, ${columns.startedAt}), ${columns.id}) where ${columns.status} in ('RUNNING', 'WAITING')`,
		},
		{
			name: 'executions_at_step',
			properties: ['projectId', 'automationId', 'currentStepId', 'id'],
			where: `status in ('RUNNING', 'WAITING')`,
		},
		{
			name: 'executions_in_force',
			properties: ['projectId', 'automationId', 'version'],
			where: `status in ('RUNNING', 'WAITING')`,
		},
		{ name: 'executions_closing', properties: ['projectId', 'id'], where: 'is_closing' },
	],
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		automationId: p.uuid(),
		version: p.integer(),
		/** null: the contact was deleted, which ended the execution. */
		contactId: p.uuid().nullable(),
		/** The automation's setting when this execution started. */
		allowReentry: p.boolean(),
		status: p.enum(executionStatuses).default('RUNNING'),
		currentStepId: p.uuid().nullable(),
		/** The number of visits. The latest is its current step. */
		visit: p.integer().default(0),
		exitReason: p.text().nullable(),
		error: p.text().nullable(),
		context: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
		event: p.json<HeardEvent>().nullable(),
		/** This event never ends a wait of the execution that it started. */
		triggerEventId: p.uuid().nullable(),
		/** The automations that led to the event that started it. Its own events start none of them again. */
		ancestors: p.array().columnType('uuid[]').defaultRaw(`'{}'`),
		/** The scheduled time that enrolled it. */
		scheduledFor: p.datetime(3).nullable(),
		/** The event it waits for. Whoever clears it, the event or the time-out, decides how the wait ends. */
		waitEventName: p.text().nullable(),
		wakesAt: p.datetime(3).nullable(),
		/** When it should have moved by; null: it has ended, or waits without a time limit. */
		dueAt: p.datetime(3).nullable().defaultRaw('now()'),
		/** It has ended here, and its run in Temporal is still to be closed. */
		isClosing: p.boolean().default(false),
		startedAt: p.datetime(3).defaultRaw('now()'),
		completedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Execution extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'contactId'], 'contacts', 'set null'),
		reference(['projectId', 'automationId', 'version'], 'automation_versions', 'cascade', {
			isEnforced: false,
		}),
	]
	static storage = ['set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)']
}
schema.setClass(Execution)
