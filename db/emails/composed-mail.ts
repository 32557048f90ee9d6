import { bool, int, json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import type { MailCopy } from './email.ts'

/** What a mail is composed from, besides its body. */
export const composedColumns = {
	project_id: uuid,
	id: uuid,
	contact_id: uuid.orNull,
	/** If set, subject and body are still to be rendered. */
	campaign_id: uuid.orNull,
	to: text,
	to_name: text.orNull,
	/** Those with an error are left out. */
	copies: json<MailCopy[]>().orNull,
	from: text,
	from_name: text.orNull,
	reply_to: text.orNull,
	subject: text,
	/** Its own text part. */
	text: text.orNull,
	headers: json<Record<string, string>>(),
	content_language: text,
	language: text,
	postal_address: text.orNull,
	type: text.of<'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'>(),
	/** Or when it was scheduled for: the date of the mail. */
	created_at: timestamp,
}

/** These columns but the text part, of a mail `m` with what it leaves to its campaign `k`. */
export const composed = `m.project_id, m.id, m.contact_id, m.campaign_id, m."to", m.to_name, m.copies,
		coalesce(m."from", k."from") as "from",
		coalesce(m.from_name, k.from_name) as from_name, coalesce(m.reply_to, k.reply_to) as reply_to,
		coalesce(m.subject, k.subject) as subject, coalesce(m.headers, '{}') as headers,
		coalesce(m.content_language, k.content_language, m.language, k.language) as content_language,
		coalesce(m.language, k.language) as language, m.postal_address,
		coalesce(m.type, k.type) as type, coalesce(m.scheduled_for, m.created_at) as created_at`

/**
 * A mail of any status, to be shown. Its campaign has been deleted if the body and the sender are null. If body and
 * text part have more bytes than `mostBytes` together, they are left out.
 */
export const wholeMail = statement('whole-mail', {
	params: { projectId: uuid, emailId: uuid, mostBytes: int },
	row: { ...composedColumns, source_type: text.orNull, body: text.orNull, is_long: bool },
	text: `select ${composed}, m.source_type, is_long,
		case when not is_long then m."text" end as "text", case when not is_long then m.body end as body
	from emails m left join lateral left_to_campaign(m.project_id, m.campaign_id, m."from") k on true
	cross join lateral (
		select coalesce(octet_length(m.body), 0) + coalesce(octet_length(m."text"), 0) > $mostBytes::int as is_long
	) size
	where m.project_id = $projectId and m.id = $emailId`,
})

const kinds = `'email.delivery', 'email.open', 'email.click', 'email.bounce', 'email.complaint'`
/** A contact may have more events of a kind since the mail, but hardly one of this mail after so many others. */
const readOfKind = 1000

/**
 * What happened to a mail after it left, the first of it first. Events are found by their contact, and those of
 * nobody by their mail.
 */
export const engagementsOfMail = statement('engagements-of-mail', {
	params: { projectId: uuid, emailId: uuid, contactId: uuid.orNull, since: timestamp },
	row: { type: text, at: timestamp, link: text.orNull },
	text: `select substr(name, length('email.') + 1) as type,
		coalesce(iso_time(coalesce(data->>'openedAt', data->>'clickedAt')), created_at) as at, data->>'link' as link
	from (
		select e.* from unnest(array[${kinds}]) as kind(name)
		cross join lateral (
			select e.id, e.name, e.data, e.email_id, e.created_at from events e
			where e.project_id = $projectId and e.contact_id = $contactId::uuid and e.name = kind.name
				and e.created_at >= $since::timestamptz and e.id >= first_id_at($since::timestamptz)
			order by e.created_at limit ${readOfKind}
		) e where e.email_id = $emailId::uuid
		union all
		select e.id, e.name, e.data, e.email_id, e.created_at from events e
		where e.project_id = $projectId and e.email_id = $emailId::uuid and e.contact_id is null
			and e.id >= first_id_at($since::timestamptz) and e.name in (${kinds})
	) happened order by created_at, id limit 100`,
})
