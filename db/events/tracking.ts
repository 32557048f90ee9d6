import { upsertContactCtes } from '../contacts/contact-writing.ts'
import { statement } from '../statement.ts'

/** A time as answers write it. */
const isoText = (time: string) =>
	`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

export interface Tracked {
	/** False: the contact's data would exceed 64 KB, and nothing was written. */
	fits: boolean
	contact: string
	event: string
	timestamp: Date
}

/**
 * The contact, its flip and the event, in one round trip because this is the busiest call of all.
 * No row: another request created the same contact at this moment, and nothing was written. If the
 * idempotency key's claim has been taken over meanwhile, the division by zero rolls all back.
 *
 * $1 project, $2 address, $3 subscribed or null, $4 data to store, $5 data keys to delete,
 * $6 event name, $7 event data, $8 idempotency key, $9 its claim
 */
export const trackEvent = statement<Tracked>(
	'track-event',
	`with ${upsertContactCtes}, tracked as (
		insert into events (project_id, name, contact_id, data)
		select $1, $6::text, id, $7::jsonb from contact where fits
		returning id, contact_id, created_at
	), keyed as (
		update idempotency_keys set status_code = 200, response = jsonb_build_object(
			'success', true, 'data', jsonb_build_object(
				'contact', tracked.contact_id, 'event', tracked.id, 'timestamp',
				${isoText('tracked.created_at')}))
		from tracked
		where project_id = $1 and key = $8::text and claim_id = $9::uuid and status_code is null
		returning 1
	)
	select fits, contact.id as contact, tracked.id as event, tracked.created_at as timestamp
	from contact left join tracked on true
	where case when $8::text is null or not fits then true
		else 1 / (select count(*)::int from keyed) = 1 end`,
)

export interface EventRow {
	id: string
	name: string
	data: Record<string, unknown>
	contactId: string | null
	emailId: string | null
	createdAt: Date
}

/**
 * An event by itself. A contact or mail of another project is refused by its foreign key. If the
 * idempotency key's claim has been taken over meanwhile, the division by zero rolls all back.
 *
 * $1 project, $2 name, $3 data, $4 contact or null, $5 mail or null, $6 idempotency key, $7 its claim
 */
export const insertEvent = statement<EventRow>(
	'insert-event',
	`with tracked as (
		insert into events (project_id, name, data, contact_id, email_id)
		values ($1, $2, $3, $4, $5)
		returning id, name, data, contact_id, email_id, created_at
	), keyed as (
		update idempotency_keys set status_code = 201, response = jsonb_build_object(
			'id', tracked.id, 'name', tracked.name, 'data', tracked.data,
			'contactId', tracked.contact_id, 'emailId', tracked.email_id,
			'createdAt', ${isoText('tracked.created_at')})
		from tracked
		where project_id = $1 and key = $6::text and claim_id = $7::uuid and status_code is null
		returning 1
	)
	select id, name, data, contact_id as "contactId", email_id as "emailId", created_at as "createdAt"
	from tracked
	where case when $6::text is null then true
		else 1 / (select count(*)::int from keyed) = 1 end`,
)
