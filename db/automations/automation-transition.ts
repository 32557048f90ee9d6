import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'
import { reference } from '../reference.ts'

/** A transition between two steps of the same automation. */
export const transitionSchema = defineEntity({
	name: 'AutomationTransition',
	tableName: 'automation_transitions',
	indexes: [
		{
			name: 'automation_transitions_to',
			properties: ['projectId', 'automationId', 'toStepId'],
		},
	],
	uniques: [
		{
			name: 'automation_transitions_branch',
			// A step without branches has one way on.
			expression: (columns, table, name) =>
				`alter table ${table.name} add constraint ${name} unique nulls not distinct (${columns.projectId}, ${columns.automationId}, ${columns.fromStepId}, ${columns.branch})`,
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		automationId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		fromStepId: p.uuid(),
		toStepId: p.uuid(),
		/** The step's outcome that leads here; null if it has only one. */
		branch: p.text().nullable(),
		priority: p.integer().default(0),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class AutomationTransition extends transitionSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'automationId', 'id']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'automationId'], 'automations', 'cascade'),
		reference(['projectId', 'automationId', 'fromStepId'], 'automation_steps', 'cascade'),
		reference(['projectId', 'automationId', 'toStepId'], 'automation_steps', 'cascade'),
	]
}
transitionSchema.setClass(AutomationTransition)
