import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { projectId } from '../columns.ts'
import { reference } from '../reference.ts'

/**
 * The mails that are SCHEDULED, one row each. Deleting its row is what makes a mail due, or cancels it, so one of the two
 * happens: see db/outbox/due-sends.ts and db/emails/scheduling.ts.
 */
const schema = defineEntity({
	name: 'ScheduledSend',
	tableName: 'scheduled_sends',
	indexes: [
		{ name: 'scheduled_sends_due', properties: ['projectId', 'dueAt', 'emailId'] },
		{ name: 'scheduled_sends_soonest', properties: ['dueAt'] },
	],
	properties: {
		projectId: projectId().primary(),
		emailId: p.uuid().primary(),
		dueAt: p.datetime(3),
		/** Whether its contact must still be subscribed by then: the mail of a MARKETING template. */
		needsConsent: p.boolean().default(false),
	},
})

export class ScheduledSend extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'emailId']
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0.02)']
}
schema.setClass(ScheduledSend)
