import type { Pool, PoolClient } from 'pg'
import { bool, int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { joined, ownText, query, sql } from '../sql.ts'
import { statement } from '../statement.ts'
import { type Period, within } from '../within.ts'
import type { deliveryStatuses, WebhookAttempt } from './webhook-delivery.ts'
import { mostCounted } from './webhook-endpoint-records.ts'
import { payloadData, payloadRows } from './webhook-payload.ts'

const deliveryColumns = {
	id: uuid,
	endpointId: uuid,
	eventId: uuid,
	type: text,
	emailId: uuid.orNull,
	contactId: uuid.orNull,
	status: text.of<(typeof deliveryStatuses)[number]>(),
	attempts: json<WebhookAttempt[]>(),
	nextAt: timestamp.orNull,
	occurredAt: timestamp,
}
export type DeliveryRow = RowOf<typeof deliveryColumns>

const columns = (
	attempts: string,
) => `d.id, d.endpoint_id as "endpointId", d.event_id as "eventId", d.type,
	d.email_id as "emailId", coalesce(d.contact_id, (select e.contact_id from emails e
		where e.project_id = d.project_id and e.id = d.email_id)) as "contactId", d.status,
	${attempts} as attempts, d.next_at as "nextAt", d.occurred_at as "occurredAt"`

export interface DeliveryFilter extends Period {
	projectId: string
	endpointId: string
	status?: (typeof deliveryStatuses)[number] | undefined
	type?: string | undefined
	emailId?: string | undefined
	contactId?: string | undefined
}

const findDeliveries = query('list-webhook-deliveries', deliveryColumns)
const countedDeliveries = query('count-webhook-deliveries', { total: int })

/** Written out: a partial index is used only for a condition without parameters. */
const statusIs = {
	PENDING: sql`d.status = 'PENDING'`,
	DELIVERED: sql`d.status = 'DELIVERED'`,
	FAILED: sql`d.status = 'FAILED'`,
	HELD: sql`d.status = 'HELD'`,
}

/** In the order of the primary key, newest first. A mail's, and those of a contact, are found by indexes of their own. */
function matching(filter: DeliveryFilter) {
	const project = uuid.value(filter.projectId)
	const { status, type, emailId, contactId, from, to } = filter
	const where = [
		sql`d.project_id = ${project}`,
		sql`d.endpoint_id = ${uuid.value(filter.endpointId)}`,
	]
	if (status) where.push(statusIs[status])
	if (type) where.push(sql`d.type = ${text.value(type)}`)
	if (emailId) where.push(sql`d.email_id = ${uuid.value(emailId)}`)
	if (contactId) {
		const contact = uuid.value(contactId)
		where.push(sql`(d.contact_id = ${contact} or d.email_id = any(array(
			select e.id from emails e where e.project_id = ${project} and e.contact_id = ${contact})))`)
	}
	return [...where, ...within({ from, to }, { id: sql`d.id`, time: sql`d.occurred_at` })]
}

/** Without the answers, which may be large. */
const withoutAnswers = `(select coalesce(jsonb_agg(a - 'answer' order by place), '[]')
	from jsonb_array_elements(d.attempts) with ordinality as tries(a, place))`

export const listDeliveries = (
	db: Pool | PoolClient,
	filter: DeliveryFilter,
	before: string | null,
	limit: number,
): Promise<DeliveryRow[]> => {
	const where = matching(filter)
	if (before !== null) where.push(sql`d.id < ${uuid.value(before)}`)
	return findDeliveries(
		db,
		sql`select ${ownText(columns(withoutAnswers))} from webhook_deliveries d
		where ${joined(where, ' and ')} order by d.id desc limit ${int.value(limit)}`,
	)
}

/** At most `mostCounted`. */
export async function countDeliveries(db: Pool | PoolClient, filter: DeliveryFilter) {
	const [row] = await countedDeliveries(
		db,
		sql`select count(*)::int as total from (
			select from webhook_deliveries d where ${joined(matching(filter), ' and ')}
			limit ${int.value(mostCounted)}) found`,
	)
	return row!.total
}

/** Looked up by the whole key: a project has few endpoints. */
const byId = `d.project_id = $projectId and d.endpoint_id = any(array(
		select w.id from webhook_endpoints w where w.project_id = $projectId and w.deleted_at is null))
	and d.id = $deliveryId`

export const findDelivery = statement('find-webhook-delivery', {
	params: { projectId: uuid, deliveryId: uuid },
	row: {
		...deliveryColumns,
		payload: text.orNull,
		/** What the payload will consist of; null where it was stored. */
		data: json<object>().orNull,
		isErased: bool,
	},
	text: `select ${columns('d.attempts')}, d.payload, ${payloadData} as data, d.is_erased as "isErased"
	from webhook_deliveries d
	${payloadRows}
	where ${byId}`,
})

/**
 * Before all others of its endpoint, by a new plan of retries. An endpoint that rests is tried, too. False: the
 * endpoint is disabled.
 */
export const retryDelivery = statement('retry-webhook-delivery', {
	params: { projectId: uuid, deliveryId: uuid },
	row: { isEnabled: bool },
	text: `with delivery as materialized (
		select d.endpoint_id, d.id from webhook_deliveries d where ${byId}
	), endpoint as (
		update webhook_endpoints w set resting_until = null
		from delivery where w.project_id = $projectId and w.id = delivery.endpoint_id
		returning w.id, w.disabled_reason is null as is_enabled
	), retried as (
		-- What waits untried is due since its own time. The first is found by the index of what is due.
		update webhook_deliveries d set status = 'PENDING', tries = 0, next_at = least(d.occurred_at,
			(select w.next_at from webhook_deliveries w
				where w.project_id = $projectId and w.endpoint_id = delivery.endpoint_id and w.next_at is not null
				order by w.next_at limit 1) - interval '1 ms',
			(select min(b.occurred_at) from webhook_batches b
				where b.project_id = $projectId and b.endpoint_id = delivery.endpoint_id) - interval '1 ms')
		from delivery, endpoint
		where d.project_id = $projectId and d.endpoint_id = delivery.endpoint_id and d.id = delivery.id and is_enabled
	)
	select is_enabled as "isEnabled" from endpoint`,
})
