import { type Limit, nearestLimit } from '../billing/usage-standing.ts'
import { statement } from '../statement.ts'

// Two round trips make a send: one reads all that deciding and rendering need, the other writes all
// that follows, in one statement and so in one transaction.

export interface SendContext {
	template: {
		id: string
		subject: string
		body: string
		from: string
		from_name: string | null
		reply_to: string | null
		type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
		language: string | null
	} | null
	/** null: the project has no such domain. */
	verified: boolean | null
	contacts: { id: string; email: string; subscribed: boolean; data: Record<string, unknown> }[]
	/** Fresh ids, in ascending order. */
	ids: string[]
	/** null: there is no limit, or nobody asked. */
	limit: Limit | null
}

/** $1 project, $2 template, $3 the sender's domain if not the template's, $4 addresses, $5 how many ids, $6 whether limits apply */
export const sendContext = statement<SendContext>(
	'send-context',
	`with template as (
		select id, subject, body, "from", from_name, reply_to, type, language from templates
		where project_id = $1 and id = $2::uuid
	)
	select
		(select row_to_json(template) from template) as template,
		(select verified_at is not null from domains where project_id = $1 and domain = coalesce(
			$3::text, (select lower(btrim(split_part("from", '@', 2))) from template))) as verified,
		(select coalesce(json_agg(json_build_object(
				'id', id, 'email', email, 'subscribed', subscribed, 'data', data)), '[]')
			from contacts where project_id = $1 and email = any($4::text[])) as contacts,
		(select array_agg(uuidv7()::text) from generate_series(1, $5::int)) as ids,
		case when $6::bool then ${nearestLimit('$1', 'transactional')} end as "limit"`,
)

/**
 * Writes contacts, their flips, mails, files and the queued send.
 *
 * The mails name the contacts' ids as they were read, or made up for new ones: if another request was
 * faster with the same new address, the foreign key refuses this one, and the caller reads again.
 * If the idempotency key's claim has been taken over meanwhile, or its request was answered with a
 * fault because this statement seemed lost, the division by zero rolls all back.
 *
 * $1 project, $2 contacts [{id, email, name}], $3 data to store, $4 data keys to delete,
 * $5 subscribed or null, $6 mails, $7 request, $8 files, $9 idempotency key, $10 its claim, $11 the answer
 */
export const acceptSend = statement(
	'accept-send',
	`with given as (
		select * from jsonb_to_recordset($2::jsonb) as g(id uuid, email text, name jsonb)
	), upserted as (
		insert into contacts as c (id, project_id, email, subscribed, data)
		select id, $1, email, coalesce($5::bool, false), coalesce(name, '{}') || $3::jsonb
		from given order by email
		on conflict (project_id, email) do update set
			data = excluded.data || (c.data - $4::text[]) || $3::jsonb,
			subscribed = coalesce($5::bool, c.subscribed),
			updated_at = now()
		where c.data <> excluded.data || (c.data - $4::text[]) || $3::jsonb
			or c.subscribed <> coalesce($5::bool, c.subscribed)
		returning new.id, new.subscribed, old.subscribed <> new.subscribed as flipped
	), flips as (
		insert into events (project_id, name, contact_id)
		select $1, case when subscribed then 'contact.subscribed' else 'contact.unsubscribed' end, id
		from upserted where flipped
	), mails as (
		insert into emails (project_id, id, contact_id, "to", to_name, "from", from_name, reply_to,
			subject, body, headers, content_language, language, type, source_type, template_id, request_id,
			attachments,
			render_fault)
		select $1, id, "contactId", "to", "toName", "from", "fromName", "replyTo",
			subject, body, headers, "contentLanguage", language, type, 'TRANSACTIONAL', "templateId", $7::uuid,
			attachments,
			"renderFault"
		from jsonb_to_recordset($6::jsonb) as m(id uuid, "contactId" uuid, "to" text, "toName" text,
			"from" text, "fromName" text, "replyTo" text, subject text, body text, headers jsonb,
			"contentLanguage" text, language text, type text, "templateId" uuid, attachments jsonb, "renderFault" text)
	), files as (
		insert into attachments (project_id, request_id, position, filename, content_type, content_id,
			inline, content)
		select $1, $7::uuid, position, filename, "contentType", "contentId", inline,
			decode(content, 'base64')
		from jsonb_to_recordset($8::jsonb) as f(position int, filename text, "contentType" text,
			"contentId" text, inline bool, content text)
	), queued as (
		insert into queued_sends (project_id, request_id, email_ids)
		select $1, $7::uuid, array_agg((m->>'id')::uuid order by position)
		from jsonb_array_elements($6::jsonb) with ordinality as mail(m, position)
	), keyed as (
		update idempotency_keys set status_code = 200, response = $11::jsonb
		where project_id = $1 and key = $9::text and claim_id = $10::uuid and status_code is null
		returning 1
	)
	select case when $9::text is null then 1 else 1 / (select count(*)::int from keyed) end`,
)
