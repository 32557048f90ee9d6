import { type Limit, nearestLimit } from '../billing/usage-standing.ts'
import { bool, int, json, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

// A send takes two round trips. One reads everything for deciding and rendering; the other writes
// everything in one statement, and so in one transaction.

export type SendContext = RowOf<typeof sendContext>

export const sendContext = statement('send-context', {
	params: {
		projectId: uuid,
		templateId: uuid.orNull,
		/** The sender's domain, if it is not the template's. */
		domain: text.orNull,
		emails: text.array,
		idCount: int,
		hasLimits: bool,
	},
	row: {
		template: json<{
			id: string
			subject: string
			body: string
			from: string
			from_name: string | null
			reply_to: string | null
			type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
			language: string | null
		}>().orNull,
		/** null: the project has no such domain. */
		verified: bool.orNull,
		contacts:
			json<{ id: string; email: string; subscribed: boolean; data: Record<string, unknown> }[]>(),
		/** New ids, in ascending order. */
		ids: text.array,
		/** null: there is no limit, or it was not requested. */
		limit: json<Limit>().orNull,
	},
	text: `with template as (
		select id, subject, body, "from", from_name, reply_to, type, language from templates
		where project_id = $projectId and id = $templateId::uuid
	)
	select
		(select row_to_json(template) from template) as template,
		(select verified_at is not null from domains where project_id = $projectId
			and domain = coalesce($domain::text,
				(select lower(btrim(split_part("from", '@', 2))) from template))) as verified,
		(select coalesce(json_agg(json_build_object(
				'id', id, 'email', email, 'subscribed', subscribed, 'data', data)), '[]')
			from contacts where project_id = $projectId and email = any($emails::text[])) as contacts,
		(select array_agg(uuidv7()::text) from generate_series(1, $idCount::int)) as ids,
		case when $hasLimits::bool then ${nearestLimit('$projectId', 'transactional')} end as "limit"`,
})

/**
 * Writes contacts, changes of their subscription, mails, files and the queued send.
 *
 * Mails refer to contacts by ids that were read before, or generated for new ones. If another request has
 * created the same contact first, the foreign key fails this statement, and the caller reads again. If the
 * idempotency key's claim was taken over meanwhile, or its request was answered with a fault because this
 * statement seemed lost, `require_claim` rolls everything back.
 */
export const acceptSend = statement('accept-send', {
	params: {
		projectId: uuid,
		contacts: json<object[]>(),
		data: json<object>(),
		removedKeys: text.array,
		subscribed: bool.orNull,
		mails: json<object[]>(),
		requestId: uuid,
		files: json<object[]>(),
		key: text.orNull,
		claimId: uuid.orNull,
		response: json<object>().orNull,
	},
	text: `with given as (
		select * from jsonb_to_recordset($contacts::jsonb) as g(id uuid, email text, name jsonb)
	), upserted as (
		insert into contacts as c (id, project_id, email, subscribed, data)
		select id, $projectId, email, coalesce($subscribed::bool, false),
			coalesce(name, '{}') || $data::jsonb
		from given order by email
		on conflict (project_id, email) do update set
			data = excluded.data || (c.data - $removedKeys::text[]) || $data::jsonb,
			subscribed = coalesce($subscribed::bool, c.subscribed),
			updated_at = now()
		where c.data <> excluded.data || (c.data - $removedKeys::text[]) || $data::jsonb
			or c.subscribed <> coalesce($subscribed::bool, c.subscribed)
		returning new.id, new.subscribed, old.subscribed <> new.subscribed as flipped
	), flips as (
		insert into events (project_id, name, contact_id)
		select $projectId, case when subscribed then 'contact.subscribed'
			else 'contact.unsubscribed' end, id
		from upserted where flipped
	), mails as (
		insert into emails (project_id, id, contact_id, "to", to_name, "from", from_name, reply_to,
			subject, body, headers, content_language, language, type, source_type, template_id, request_id,
			attachments,
			render_fault)
		select $projectId, id, "contactId", "to", "toName", "from", "fromName", "replyTo",
			subject, body, headers, "contentLanguage", language, type, 'TRANSACTIONAL',
			"templateId", $requestId::uuid,
			attachments,
			"renderFault"
		from jsonb_to_recordset($mails::jsonb) as m(id uuid, "contactId" uuid, "to" text, "toName" text,
			"from" text, "fromName" text, "replyTo" text, subject text, body text, headers jsonb,
			"contentLanguage" text, language text, type text, "templateId" uuid, attachments jsonb, "renderFault" text)
	), files as (
		insert into attachments (project_id, request_id, position, filename, content_type, content_id,
			inline, content)
		select $projectId, $requestId::uuid, position, filename, "contentType", "contentId", inline,
			decode(content, 'base64')
		from jsonb_to_recordset($files::jsonb) as f(position int, filename text, "contentType" text,
			"contentId" text, inline bool, content text)
	), queued as (
		insert into queued_sends (project_id, request_id, email_ids)
		select $projectId, $requestId::uuid, array_agg((m->>'id')::uuid order by position)
		from jsonb_array_elements($mails::jsonb) with ordinality as mail(m, position)
	), keyed as (
		update idempotency_keys set status_code = 200, response = $response::jsonb
		where project_id = $projectId and key = $key::text and claim_id = $claimId::uuid
			and status_code is null
		returning 1
	)
	select case when $key::text is null then true else require_claim(exists (select from keyed)) end`,
})

export type AcceptedSend = Parameters<typeof acceptSend>[1]
