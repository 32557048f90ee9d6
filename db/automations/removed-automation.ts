import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/** An automation that is gone, until its executions are. */
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
}
schema.setClass(RemovedAutomation)
