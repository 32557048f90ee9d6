import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'
import { reference } from '../reference.ts'

export const webhookOrderings = ['none', 'email'] as const

/** OWNER: by a request. GONE: it answered 410. FAILING: no success for five days. */
export const endpointDisabledReasons = ['OWNER', 'GONE', 'FAILING'] as const

/** An address of a customer that is notified of events. */
const schema = defineEntity({
	name: 'WebhookEndpoint',
	tableName: 'webhook_endpoints',
	uniques: [{ properties: ['projectId', 'id'] }],
	properties: {
		id: id(),
		projectId: projectId(),
		url: p.text(),
		/** Types, families such as `contact.*`, or `*`. */
		events: p.array().columnType('text[]'),
		description: p.text().nullable(),
		/** `email`: the next event of a mail waits until the one before is delivered or given up. */
		ordering: p.enum(webhookOrderings).default('none'),
		/** Encrypted with a key derived from SESSION_SECRET. */
		secret: p.blob().$type<Buffer>(),
		/** Signs along for a day after a rotation. */
		previousSecret: p.blob().$type<Buffer>().nullable(),
		/** Those before it, newest first, if it was rotated again within that day. */
		olderSecrets: p.array().columnType('bytea[]').nullable(),
		rotatedAt: p.datetime(3).nullable(),
		/** An endpoint is disabled exactly while it has a reason. */
		disabledReason: p.enum(endpointDisabledReasons).nullable(),
		disabledAt: p.datetime(3).nullable(),
		/** When the members were notified of that. */
		toldAt: p.datetime(3).nullable(),
		lastSuccessAt: p.datetime(3).nullable(),
		/** The first failure since the last success. */
		failingSince: p.datetime(3).nullable(),
		failuresInRow: p.integer().default(0),
		/** Nothing is delivered before: it failed too often, or asked for it by Retry-After. */
		restingUntil: p.datetime(3).nullable(),
		/** Until then a run is delivering, or has been called. */
		leasedUntil: p.datetime(3).nullable(),
		/** The API no longer shows it, and its deliveries are being deleted. */
		deletedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class WebhookEndpoint extends schema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = ['set (fillfactor = 50)']
}
schema.setClass(WebhookEndpoint)
