import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, noteTrace, projectId } from '../columns.ts'

/**
 * One request's mails on their way into a run of the `send` workflow, written in the transaction that
 * wrote the mails. Sends that wait together are claimed together and become one run; a claim never
 * changes once made, and its rows stay, as the run's list of mails, until all of them are settled.
 */
const schema = defineEntity({
	name: 'QueuedSend',
	tableName: 'queued_sends',
	indexes: [
		{ name: 'queued_sends_waiting', properties: ['projectId', 'id'], where: 'claim_id is null' },
		{ name: 'queued_sends_claimed', properties: ['claimId'], where: 'claim_id is not null' },
	],
	properties: {
		id: p.bigint('number').primary().autoincrement(),
		projectId: projectId(),
		requestId: p.uuid(),
		/** In the order of the request's recipients. */
		emailIds: p.array().columnType('uuid[]'),
		/** The request that the claim is named after; of all its rows, that one stands for the claim. */
		claimId: p.uuid().nullable(),
		/** When Temporal was last asked whether it still knows the claim's run. */
		checkedAt: p.datetime(3).nullable(),
		/** The `traceparent` of whoever writes it, if somebody follows. */
		trace: p.text().nullable().defaultRaw(noteTrace),
		createdAt: createdAt(),
	},
})

export class QueuedSend extends schema.class {}
schema.setClass(QueuedSend)
