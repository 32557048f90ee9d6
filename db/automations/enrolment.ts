import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'
import type { FrozenCondition } from '../conditions/frozen-condition.ts'
import { reference } from '../reference.ts'

/**
 * One scheduled run of an automation. The row stays until all its executions have started, and for a day
 * after that, or longer if it failed.
 */
const schema = defineEntity({
	name: 'Enrolment',
	tableName: 'enrolments',
	indexes: [{ name: 'enrolments_open', properties: ['updatedAt'], where: 'ended_at is null' }],
	properties: {
		projectId: p.uuid().primary(),
		automationId: p.uuid().primary(),
		scheduledFor: p.datetime(3).primary(),
		/** The Temporal run that is working on it. */
		workflowId: p.text(),
		/** The audience as it was at the start. */
		audience: p.json<FrozenCondition>(),
		/** Executions have started for contacts up to this id. */
		after: p.uuid().nullable(),
		/** When all executions had started, or no more could. A retry of the last page starts no others. */
		endedAt: p.datetime(3).nullable(),
		/** Why it ended before all executions had started. Null again once the next run begins. */
		error: p.text().nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Enrolment extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'automationId', 'scheduledFor']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'automationId'], 'automations', 'cascade'),
	]
}
schema.setClass(Enrolment)
