import { upsertContactCtes, upsertParams } from '../contacts/contact-writing.ts'
import { bool, json, type RowOf, storedJson, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * Writes the contact, its subscription change and the event in one round trip, because this is the busiest
 * route. No row: another request created the same contact at this moment, and nothing was written. If the
 * idempotency key's claim was taken over meanwhile, `require_claim` rolls everything back.
 */
export const trackEvent = statement('track-event', {
	params: {
		...upsertParams,
		eventName: text,
		eventData: json<object>(),
		key: text.orNull,
		claimId: uuid.orNull,
	},
	row: {
		/** False: the contact's data would exceed 64 KB, and nothing was written. */
		fits: bool,
		contact: uuid,
		event: uuid,
		timestamp: timestamp,
	},
	text: `with ${upsertContactCtes}, tracked as (
		insert into events (project_id, name, contact_id, data)
		select $projectId, $eventName::text, id, $eventData::jsonb from contact where fits
		returning id, contact_id, created_at
	), keyed as (
		update idempotency_keys set status_code = 200, response = jsonb_build_object(
			'success', true, 'data', jsonb_build_object(
				'contact', tracked.contact_id, 'event', tracked.id, 'timestamp',
				iso_text(tracked.created_at)))
		from tracked
		where project_id = $projectId and key = $key::text and claim_id = $claimId::uuid
			and status_code is null
		returning 1
	)
	select fits, contact.id as contact, tracked.id as event, tracked.created_at as timestamp
	from contact left join tracked on true
	where case when $key::text is null or not fits then true
		else require_claim(exists (select from keyed)) end`,
})

export const eventRowColumns = {
	id: uuid,
	name: text,
	data: storedJson,
	contactId: uuid.orNull,
	emailId: uuid.orNull,
	createdAt: timestamp,
}
export type EventRow = RowOf<typeof eventRowColumns>

/**
 * Inserts an event alone. Foreign keys refuse a contact or mail of another project. If the idempotency
 * key's claim was taken over meanwhile, `require_claim` rolls everything back. The stored answer lacks the
 * data: see `heldKey`.
 */
export const insertEvent = statement('insert-event', {
	params: {
		projectId: uuid,
		eventName: text,
		eventData: json<object>(),
		contactId: uuid.orNull,
		emailId: uuid.orNull,
		key: text.orNull,
		claimId: uuid.orNull,
	},
	row: eventRowColumns,
	text: `with tracked as (
		insert into events (project_id, name, data, contact_id, email_id)
		values ($projectId, $eventName, $eventData, $contactId, $emailId)
		returning id, name, data, contact_id, email_id, created_at
	), keyed as (
		update idempotency_keys set status_code = 201, response = jsonb_build_object(
			'id', tracked.id, 'name', tracked.name,
			'contactId', tracked.contact_id, 'emailId', tracked.email_id,
			'createdAt', iso_text(tracked.created_at))
		from tracked
		where project_id = $projectId and key = $key::text and claim_id = $claimId::uuid
			and status_code is null
		returning 1
	)
	select id, name, data::text as data, contact_id as "contactId", email_id as "emailId", created_at as "createdAt"
	from tracked
	where case when $key::text is null then true
		else require_claim(exists (select from keyed)) end`,
})
