import { defineEntity, p } from '@mikro-orm/core'
import { createdAt } from './columns.ts'

export const outboxKinds = ['send', 'start', 'signal', 'cancel', 'terminate'] as const

/**
 * What Temporal is still to be told, written in the transaction that makes it true.
 * A `send` is the delivery of one request's mails. Sends that wait together are claimed together and
 * leave as one run; their rows stay, as that run's list of mails, until it has settled them all.
 */
const schema = defineEntity({
	name: 'Outbox',
	tableName: 'outbox',
	indexes: [
		{
			name: 'outbox_waiting_sends',
			properties: ['projectId', 'id'],
			where: `kind = 'send' and claim_id is null`,
		},
		{ name: 'outbox_claims', properties: ['claimId'], where: 'claim_id is not null' },
		{
			name: 'outbox_waiting',
			properties: ['priority', 'id'],
			where: `kind <> 'send' and done_at is null`,
		},
	],
	properties: {
		id: p.bigint('number').primary().autoincrement(),
		projectId: p.uuid(),
		kind: p.enum(outboxKinds),
		priority: p.smallint().default(3),
		workflowType: p.text().nullable(),
		workflowId: p.text().nullable(),
		taskQueue: p.text().nullable(),
		/** A workflow's argument, a signal's `{ name, args }`. */
		payload: p.json<unknown>().nullable(),
		requestId: p.uuid().nullable(),
		emailIds: p.array().columnType('uuid[]').nullable(),
		claimId: p.uuid().nullable(),
		/** Whoever claimed it has until then to tell Temporal. */
		lockedUntil: p.datetime(3).nullable(),
		attempts: p.integer().default(0),
		nextAt: p.datetime(3).defaultRaw('now()'),
		/** When Temporal took it. */
		doneAt: p.datetime(3).nullable(),
		lastError: p.text().nullable(),
		createdAt: createdAt(),
	},
})

export class Outbox extends schema.class {}
schema.setClass(Outbox)
