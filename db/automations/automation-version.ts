import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import { reference } from '../reference.ts'
import type { AutomationDefinition } from './automation-definition.ts'

/**
 * An automation at one moment. It never changes: executions run on it. For how long it is kept, see
 * automation-limits.ts.
 */
export const versionSchema = defineEntity({
	name: 'AutomationVersion',
	tableName: 'automation_versions',
	properties: {
		projectId: p.uuid().primary(),
		automationId: p.uuid().primary(),
		version: p.integer().primary(),
		definition: p.json<AutomationDefinition>(),
		/** SHA-256 of the definition, in hex: the same definition is not frozen twice in a row. */
		hash: p.text(),
		/** The steps' positions in the editor, by id. Executions ignore them. */
		positions: p.json<Record<string, { x: number; y: number }>>(),
		createdAt: createdAt(),
	},
})

export class AutomationVersion extends versionSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'automationId', 'version']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'automationId'], 'automations', 'cascade'),
	]
}
versionSchema.setClass(AutomationVersion)

/**
 * The events that any version of an automation starts with or waits for. They stay until the automation is
 * deleted, because executions may run on any version. An event whose name is found here is checked in
 * full; most events are in no project's list.
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
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'automationId'], 'automations', 'cascade'),
	]
}
eventNameSchema.setClass(AutomationEventName)
