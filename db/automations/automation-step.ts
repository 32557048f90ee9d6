import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'
import { reference } from '../reference.ts'
import { stepTypes } from './automation-definition.ts'

/** A step in its edited state. Its configuration was checked when it was written; `{}`: none yet. */
export const stepSchema = defineEntity({
	name: 'AutomationStep',
	tableName: 'automation_steps',
	indexes: [
		{
			name: 'automation_steps_template',
			properties: ['projectId', 'templateId'],
			where: 'template_id is not null',
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		automationId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		type: p.enum(stepTypes),
		name: p.text(),
		x: p.double().$type<number>().default(0),
		y: p.double().$type<number>().default(0),
		config: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
		templateId: p.uuid().nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class AutomationStep extends stepSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'automationId', 'id']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'automationId'], 'automations', 'cascade'),
		reference(['projectId', 'templateId'], 'templates'),
	]
}
stepSchema.setClass(AutomationStep)
