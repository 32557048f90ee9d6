import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'
import type { FrozenCondition } from '../conditions/frozen-condition.ts'

/** A moment of an automation's schedule, until everybody of it has begun, and for a day after that. */
const schema = defineEntity({
	name: 'Enrolment',
	tableName: 'enrolments',
	indexes: [{ name: 'enrolments_open', properties: ['updatedAt'], where: 'ended_at is null' }],
	properties: {
		projectId: p.uuid().primary(),
		automationId: p.uuid().primary(),
		scheduledFor: p.datetime(3).primary(),
		/** Of the run that is at it. */
		workflowId: p.text(),
		/** Whom it is for, as that was meant when it began. */
		audience: p.json<FrozenCondition>(),
		/** Contacts up to this id have begun. */
		after: p.uuid().nullable(),
		/** When everybody had begun: a last page that is tried again begins nobody else. */
		endedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Enrolment extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'automationId', 'scheduledFor']
}
schema.setClass(Enrolment)
