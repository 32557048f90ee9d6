import { hasRoom } from '../billing/usage-standing.ts'
import { statement } from '../statement.ts'
import { inIso, sentEventData } from './ledger.ts'

/** A mail that a provider received for us. Its body stays with the provider. */
export interface InboundMail {
	from: string
	fromName: string | null
	/** All that it may have been addressed to. */
	to: string[]
	subject: string
	messageId: string | null
	providerMessageId: string | null
}

/**
 * Takes a mail into each project that has verified the domain of a recipient: the sender becomes a
 * contact, not subscribed if new. Who is no contact yet may become one at this moment by another
 * request; the second to come then sees the first one's row. A project at its limit takes none.
 * $1 the event's id, $2 InboundMail, $3 whether limits apply
 */
export const receiveMail = statement<{ isNew: boolean; received: number }>(
	'receive-mail',
	`with told as (
		insert into provider_events (id) values ($1) on conflict (id) do nothing returning 1
	), mail as (
		select * from jsonb_to_record($2::jsonb) as m("from" text, "fromName" text, "to" text[],
			subject text, "messageId" text, "providerMessageId" text)
	), received as materialized (
		select distinct on (d.project_id) d.project_id, "to".address as "to", uuidv7() as id, m."from",
			m."fromName", m.subject, m."messageId", m."providerMessageId"
		from mail m cross join told
		cross join lateral unnest(m."to") with ordinality as "to"(address, position)
		join domains d on d.domain = split_part("to".address, '@', 2) and d.verified_at is not null
		where not $3::bool or ${hasRoom('d.project_id', 'inbound')}
		order by d.project_id, "to".position
	), known as (
		select r.project_id, c.id as contact_id from received r
		join contacts c on c.project_id = r.project_id and c.email = r."from"
	), added as (
		insert into contacts (project_id, email, subscribed)
		select project_id, "from", false from received r
		where not exists (select from known where known.project_id = r.project_id)
		on conflict (project_id, email) do update set email = excluded.email
		returning project_id, id as contact_id
	), stored as (
		insert into emails (project_id, id, contact_id, "from", from_name, "to", subject, type,
			source_type, status, provider_message_id, headers)
		select project_id, r.id, contact_id, r."from", r."fromName", r."to", r.subject, 'TRANSACTIONAL',
			'INBOUND', 'RECEIVED', r."providerMessageId",
			jsonb_strip_nulls(jsonb_build_object('Message-ID', r."messageId"))
		from received r join (select * from known union all select * from added) c using (project_id)
		returning *
	), emitted as (
		insert into events (project_id, name, contact_id, email_id, data)
		select project_id, 'email.received', contact_id, id, ${sentEventData} - 'sentAt'
			|| jsonb_build_object('to', "to", 'receivedAt', ${inIso('created_at')},
				'messageId', headers->'Message-ID')
		from stored
	)
	select exists (select from told) as "isNew", (select count(*)::int from stored) as received`,
)
