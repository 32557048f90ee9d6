import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/** HELD: its endpoint is disabled. It is kept for a replay. */
export const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED', 'HELD'] as const

/** One try. `answer` is the first 4 KB of the body. */
export interface WebhookAttempt {
	at: string
	durationMs: number
	status: number | null
	answer: string | null
	/** The reason if there was no answer. */
	error: string | null
}

/** Older tries of a delivery that was replayed again and again are forgotten. */
export const attemptsKept = 20

/**
 * One event for one endpoint, written in the transaction of the event. An endpoint's rows are in order of
 * time, so a list reads the primary key. With its tries, because a delivery that succeeds at once is then
 * written only twice.
 */
const schema = defineEntity({
	name: 'WebhookDelivery',
	tableName: 'webhook_deliveries',
	indexes: [
		{
			name: 'webhook_deliveries_due',
			properties: ['endpointId', 'nextAt', 'id'],
			where: 'next_at is not null',
		},
		{
			name: 'webhook_deliveries_of_mail',
			properties: ['emailId', 'endpointId'],
			where: 'email_id is not null',
		},
		// For the order of each mail's events.
		{
			name: 'webhook_deliveries_pending',
			properties: ['emailId', 'endpointId', 'id'],
			where: `status = 'PENDING' and email_id is not null`,
		},
		// For their lists: few among the delivered ones.
		{
			name: 'webhook_deliveries_undelivered',
			properties: ['projectId', 'endpointId', 'id'],
			where: `status in ('FAILED', 'HELD')`,
		},
		{
			name: 'webhook_deliveries_of_contact',
			properties: ['contactId'],
			where: 'contact_id is not null',
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		endpointId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		/** The `webhook-id`: the same for all endpoints, at every try and on replay. */
		eventId: p.uuid(),
		type: p.text(),
		emailId: p.uuid().nullable(),
		/** For events of no mail; otherwise the mail knows its contact. */
		contactId: p.uuid().nullable(),
		occurredAt: p.datetime(3),
		/** The parts of the payload that the mail's or contact's row does not have. */
		data: p.json<Record<string, unknown>>().nullable(),
		/** The body, stored with the first outcome: every later try sends the same. */
		payload: p.text().nullable(),
		/** The person was erased: no payload is stored any more. */
		isErased: p.boolean().default(false),
		status: p.enum(deliveryStatuses),
		/** Those under the current plan of retries. */
		tries: p.smallint().default(0),
		/** Null: nothing is to be done. */
		nextAt: p.datetime(3).nullable(),
		attempts: p.json<WebhookAttempt[]>().defaultRaw(`'[]'`),
	},
})

export class WebhookDelivery extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'endpointId', 'id']
	static references = [
		// Its rows refer to an endpoint that its writers have read, and endpoints are deleted a day after nobody can.
		reference(['projectId'], 'projects', 'cascade', { isEnforced: false }),
		reference(['projectId', 'endpointId'], 'webhook_endpoints', 'cascade', { isEnforced: false }),
	]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0.05)']
}
schema.setClass(WebhookDelivery)
