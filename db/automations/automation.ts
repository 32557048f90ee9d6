import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'

export const triggerTypes = ['EVENT', 'MANUAL', 'SCHEDULE'] as const

/**
 * What the API calls a workflow, as it is edited. Its steps and transitions have tables of their own;
 * whoever changes any of the three holds this row's lock. While it is enabled, each change is frozen
 * into a version in the same transaction: what `currentVersion` says is then what stands here.
 */
const schema = defineEntity({
	name: 'Automation',
	tableName: 'automations',
	uniques: [{ properties: ['projectId', 'id'] }],
	indexes: [
		{
			name: 'automations_of_event',
			properties: ['projectId', 'eventName'],
			where: `enabled and trigger_type = 'EVENT'`,
		},
		{
			name: 'automations_of_segment',
			properties: ['projectId', 'segmentId'],
			where: 'segment_id is not null',
		},
	],
	properties: {
		id: id(),
		projectId: projectId(),
		name: p.text(),
		description: p.text().nullable(),
		enabled: p.boolean().default(false),
		triggerType: p.enum(triggerTypes).default('EVENT'),
		/** Of an EVENT trigger. */
		eventName: p.text().nullable(),
		/** Of a SCHEDULE trigger: a cron expression, and the time zone it is meant in. */
		schedule: p.text().nullable(),
		timezone: p.text().nullable(),
		/** Whom a SCHEDULE trigger enrols; null: every contact. */
		segmentId: p.uuid().nullable(),
		allowReentry: p.boolean().default(false),
		/** The version that executions begin with; null: none was frozen yet. */
		currentVersion: p.integer().nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Automation extends schema.class {}
schema.setClass(Automation)
