import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import type { Partitions } from '../partitions.ts'
import { reference } from '../reference.ts'

export const attemptOutcomes = ['SENT', 'REJECTED', 'DEFERRED', 'UNAVAILABLE', 'UNKNOWN'] as const

/**
 * A hand-over that has ended, with any outcome. It has no foreign key to its mail, which is in a table of the same
 * month: Postgres would look for such rows before it removed that table.
 */
const schema = defineEntity({
	name: 'Attempt',
	tableName: 'attempts',
	indexes: [
		// For provider events that don't contain our id.
		{
			name: 'attempts_provider_message',
			properties: ['providerMessageId'],
			where: `provider = 'resend'`,
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		emailId: p.uuid().primary(),
		attempt: p.integer().primary(),
		at: p.datetime(3),
		outcome: p.enum(attemptOutcomes),
		provider: p.text().nullable(),
		providerMessageId: p.text().nullable(),
		error: p.text().nullable(),
	},
})

export class Attempt extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'emailId', 'attempt']
	static references = [reference(['projectId'], 'projects', 'cascade', { isEnforced: false })]
	static partitions: Partitions = { by: 'email_id', storage: [] }
}
schema.setClass(Attempt)
