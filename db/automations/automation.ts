import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'
import { reference } from '../reference.ts'

export const triggerTypes = ['EVENT', 'MANUAL', 'SCHEDULE'] as const

/**
 * An automation (a workflow in the API) in its edited state. Its steps and transitions have tables of
 * their own; a change of any of the three requires this row's lock. While it is enabled, each change is
 * frozen into a version in the same transaction, so `currentVersion` then matches this state. While it is
 * disabled, the two may differ.
 */
export const automationSchema = defineEntity({
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
		/** For an EVENT trigger. */
		eventName: p.text().nullable(),
		/** For a SCHEDULE trigger: a cron expression and its time zone. */
		schedule: p.text().nullable(),
		timezone: p.text().nullable(),
		/** When the schedule last changed, or was enabled or disabled. A trigger sets it. */
		scheduledSince: p.datetime(3).defaultRaw('now()'),
		/** The segment that a SCHEDULE trigger enrols; null: every contact. */
		segmentId: p.uuid().nullable(),
		allowReentry: p.boolean().default(false),
		/** The version for new executions; null: none has been frozen yet. */
		currentVersion: p.integer().nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Automation extends automationSchema.class {
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'segmentId'], 'segments'),
	]
}
automationSchema.setClass(Automation)
