import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/** A deleted automation, kept until its executions are deleted. */
const schema = defineEntity({
	name: 'RemovedAutomation',
	tableName: 'removed_automations',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary(),
	},
})

export class RemovedAutomation extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(RemovedAutomation)
