import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, currentTrace, projectId } from '../columns.ts'
import { priorities } from '../outbox/outbox.ts'
import { reference } from '../reference.ts'

/**
 * The mails of one request that wait for a run of the `send` workflow, written in the mails' transaction.
 * Sends that wait together are claimed together and become one run. A claim never changes. Its rows are
 * the run's list of mails and stay until all of them are settled.
 */
const schema = defineEntity({
	name: 'QueuedSend',
	tableName: 'queued_sends',
	indexes: [
		{
			name: 'queued_sends_next',
			properties: ['projectId', 'priority', 'id'],
			where: 'claim_id is null',
		},
		{ name: 'queued_sends_claimed', properties: ['claimId'], where: 'claim_id is not null' },
	],
	properties: {
		id: p.bigint('number').primary().autoincrement(),
		projectId: projectId(),
		requestId: p.uuid(),
		/** That of its run: mails of one priority never wait for many of a lower one. */
		priority: p.integer().default(priorities.transactional),
		/** In the order of the request's recipients. */
		emailIds: p.array().columnType('uuid[]'),
		/**
		 * The request that the claim is named after. Of the claim's rows, that request's row represents the
		 * claim.
		 */
		claimId: p.uuid().nullable(),
		/** When Temporal was last asked about the claim's run. */
		checkedAt: p.datetime(3).nullable(),
		/** The `traceparent` of the writer, if tracing is on. */
		trace: p.text().nullable().defaultRaw(currentTrace),
		createdAt: createdAt(),
	},
})

export class QueuedSend extends schema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = [
		'set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
	]
}
schema.setClass(QueuedSend)
