import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import type { AutomationDefinition } from './automation-definition.ts'

/** What an automation was at a time. Written once and never changed: executions run by it. */
const versionSchema = defineEntity({
	name: 'AutomationVersion',
	tableName: 'automation_versions',
	properties: {
		projectId: p.uuid().primary(),
		automationId: p.uuid().primary(),
		version: p.integer().primary(),
		definition: p.json<AutomationDefinition>(),
		/** SHA-256 of the definition, in hex: the same definition is not frozen twice in a row. */
		hash: p.text(),
		/** Where the editor had the steps, by id; it means nothing to executions. */
		positions: p.json<Record<string, { x: number; y: number }>>(),
		createdAt: createdAt(),
	},
})

export class AutomationVersion extends versionSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'automationId', 'version']
}
versionSchema.setClass(AutomationVersion)

/**
 * The events that any version of an automation starts with or waits for. They stay until it is deleted,
 * as executions of any version may: whoever finds an event's name here looks closer, and most events
 * are in no project's list.
 */
const eventNameSchema = defineEntity({
	name: 'AutomationEventName',
	tableName: 'automation_event_names',
	indexes: [
		{ name: 'automation_event_names_automation', properties: ['projectId', 'automationId'] },
	],
	properties: {
		projectId: p.uuid().primary(),
		name: p.text().primary(),
		automationId: p.uuid().primary(),
	},
})

export class AutomationEventName extends eventNameSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'name', 'automationId']
}
eventNameSchema.setClass(AutomationEventName)
