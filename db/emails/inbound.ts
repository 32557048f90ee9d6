import { hasRoom } from '../billing/usage-standing.ts'
import { bool, int, json, text } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { sentEventData } from './ledger.ts'

/** A mail that a provider received for us. The provider keeps its body. */
export interface InboundMail {
	from: string
	fromName: string | null
	/** All addresses that it may have been sent to. */
	to: string[]
	subject: string
	messageId: string | null
	providerMessageId: string | null
}

/**
 * Adds a mail to each project that has verified a recipient's domain. The sender becomes a contact,
 * not subscribed if new. If another request creates the same contact at this moment, the later one sees the
 * earlier row. A project at its limit takes no mail.
 */
export const receiveMail = statement('receive-mail', {
	params: { eventId: text, mail: json<InboundMail>(), hasLimits: bool },
	row: { isNew: bool, received: int },
	text: `with first_time as (
		insert into provider_events (id) values ($eventId) on conflict (id) do nothing returning 1
	), mail as (
		select * from jsonb_to_record($mail::jsonb) as m("from" text, "fromName" text, "to" text[],
			subject text, "messageId" text, "providerMessageId" text)
	), received as materialized (
		select distinct on (d.project_id) d.project_id, "to".address as "to", uuidv7() as id, m."from",
			m."fromName", m.subject, m."messageId", m."providerMessageId"
		from mail m cross join first_time
		cross join lateral unnest(m."to") with ordinality as "to"(address, position)
		join domains d on d.domain = split_part("to".address, '@', 2) and d.verified_at is not null
		where not $hasLimits::bool or ${hasRoom('d.project_id', 'inbound')}
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
			|| jsonb_build_object('to', "to", 'receivedAt', iso_text(created_at),
				'messageId', headers->'Message-ID')
		from stored
	)
	select exists (select from first_time) as "isNew", (select count(*)::int from stored) as received`,
})
