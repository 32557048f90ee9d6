import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'

export const activeStatuses = ['RUNNING', 'WAITING'] as const
export const executionStatuses = [
	...activeStatuses,
	'COMPLETED',
	'EXITED',
	'FAILED',
	'CANCELLED',
] as const

/** The event that began an execution, or the latest one that woke it. */
export interface HeardEvent {
	id: string
	name: string
	data: Record<string, unknown>
	createdAt: string
}

/**
 * One contact on its way through one version of an automation. Between two transactions it stands at one
 * step only, the one of its latest visit; whoever moves it holds first the contact's row, then this one.
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
		{ name: 'executions_of_contact', properties: ['projectId', 'contactId', 'automationId'] },
		{
			name: 'executions_waiting',
			properties: ['projectId', 'contactId', 'waitEventName'],
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
		{ name: 'executions_closing', properties: ['projectId', 'id'], where: 'is_closing' },
	],
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		automationId: p.uuid(),
		version: p.integer(),
		/** null: the contact was deleted, which ended it. */
		contactId: p.uuid().nullable(),
		/** As the automation had it when this began. */
		allowReentry: p.boolean(),
		status: p.enum(executionStatuses).default('RUNNING'),
		currentStepId: p.uuid().nullable(),
		/** How many steps it has been at. The latest is where it stands. */
		visit: p.integer().default(0),
		exitReason: p.text().nullable(),
		error: p.text().nullable(),
		context: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
		event: p.json<HeardEvent>().nullable(),
		/** It never satisfies a wait of the execution that it began. */
		triggerEventId: p.uuid().nullable(),
		/** The automations that led to the event that started it. No such event starts one of them again. */
		ancestors: p.array().columnType('uuid[]').defaultRaw(`'{}'`),
		/** The moment of the schedule that enrolled it. */
		scheduledFor: p.datetime(3).nullable(),
		/** What it waits for. Whoever clears it, by event or by time, has decided how the wait ends. */
		waitEventName: p.text().nullable(),
		wakesAt: p.datetime(3).nullable(),
		/** By when it should have moved; null: it has ended, or waits for ever. */
		dueAt: p.datetime(3).nullable().defaultRaw('now()'),
		/** It has ended here, and Temporal is still to be told. */
		isClosing: p.boolean().default(false),
		startedAt: p.datetime(3).defaultRaw('now()'),
		completedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Execution extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
}
schema.setClass(Execution)
