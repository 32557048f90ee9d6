import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'

/** The way from one step of an automation to another of the same. */
const schema = defineEntity({
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
			// The migration adds "nulls not distinct": a step without branches has one way on.
			properties: ['projectId', 'automationId', 'fromStepId', 'branch'],
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		automationId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		fromStepId: p.uuid(),
		toStepId: p.uuid(),
		/** Which outcome of the step leads here; null where it has but one. */
		branch: p.text().nullable(),
		priority: p.integer().default(0),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class AutomationTransition extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'automationId', 'id']
}
schema.setClass(AutomationTransition)
