import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'
import { stepTypes } from './automation-definition.ts'

/** A step as it is edited. Its configuration was checked when it was written; `{}`: it has none yet. */
const schema = defineEntity({
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
		x: p.double().default(0),
		y: p.double().default(0),
		config: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
		templateId: p.uuid().nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class AutomationStep extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'automationId', 'id']
}
schema.setClass(AutomationStep)
