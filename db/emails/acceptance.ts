import type { Pool, PoolClient } from 'pg'
import { type Limit, nearestLimit } from '../billing/usage-standing.ts'
import { bool, int, json, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

// A send takes two round trips. One reads everything for deciding and rendering; the other writes
// everything in one statement, and so in one transaction.

export type SendContext = RowOf<typeof sendContext>

/**
 * The addresses and the number of ids are read by queries of their own. Otherwise the planner would see how
 * many there are and plan each call anew, which takes longer than the call.
 */
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
			from contacts where project_id = $projectId and email = any(array(select unnest($emails::text[])))) as contacts,
		(select array_agg(uuidv7()::text) from generate_series(1, (select $idCount::int))) as ids,
		case when $hasLimits::bool then ${nearestLimit('$projectId', 'transactional')} end as "limit"`,
})

/** The mails and all that belongs to them. */
const write = `mails as (
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
		returning project_id, created_at, source_type, attachments, status
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
	)`

const isKeyHeld = `case when $key::text is null then true
		else require_claim(exists (select from keyed)) end`

const params = {
	projectId: uuid,
	contacts: json<object[]>(),
	data: json<object>(),
	subscribed: bool.orNull,
	mails: json<object[]>(),
	requestId: uuid,
	files: json<object[]>(),
	key: text.orNull,
	claimId: uuid.orNull,
	response: json<object>().orNull,
}

/** Writes contacts, changes of their subscription, mails, files and the queued send. */
const acceptAnySend = statement('accept-send', {
	params: { ...params, removedKeys: text.array },
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
	), ${write}
	select ${isKeyHeld}`,
})

/**
 * The same for requests that change no contact. Triggers run for each statement, even if it touches no
 * row, and cost more than the mail. So this statement counts what it writes (db/counting.sql), and it
 * locks the contacts that its mails refer to, in the order of their ids. A contact that was deleted or
 * renamed meanwhile fails it, and so does one that another request has created.
 */
const acceptPlainSend = statement('accept-plain-send', {
	params,
	text: `with counting as materialized (
		select count_itself() as begun
	), given as materialized (
		select * from jsonb_to_recordset($contacts::jsonb) as g(id uuid, email text, name jsonb, "isNew" bool)
	), locked as materialized (
		select count(*) as contacts from (
			select from (select id, email from given where not "isNew" order by id) g
			cross join lateral (
				select from contacts c where c.project_id = $projectId and c.id = g.id and c.email = g.email
				for key share) c) found
	), created as (
		insert into contacts (id, project_id, email, subscribed, data)
		select id, $projectId, email, coalesce($subscribed::bool, false), coalesce(name, '{}') || $data::jsonb
		from given where "isNew" and (select begun from counting) order by email
		returning project_id, subscribed, data
	), fields_counted as (
		insert into contact_field_changes (project_id, key, type, value, count)
		select project_id, key, contact_field_type(value), contact_field_value(value), 1
		from created cross join lateral (
			select key, value from jsonb_each(data) where key <> ''
			union all select '', to_jsonb(subscribed)) field
		where value <> 'null'
		returning 1
	), ${write.replace(
		'"renderFault" text)',
		`"renderFault" text)
		where (select begun from counting)`,
	)}, mails_counted as (
		insert into mail_tallies (project_id, slot, created)
		select project_id, quarter_of(created_at), count(*) from mails group by 1, 2
	), usage_counted as (
		insert into usage_tallies (project_id, month, category, used, sent)
		select project_id, month_of(created_at), usage_category(source_type), sum(usage_weight(attachments)), 0
		from mails where is_charged(project_id, status) group by 1, 2, 3
	)
	select ${isKeyHeld},
		case when (select contacts from locked) < (select count(*) from given where not "isNew")
			then raise_missing_reference('emails', 'emails_contact') end,
		case when random() < (select count(*) from fields_counted) / 2048.0
			then fold_contact_fields($projectId) end`,
})

/** More new contacts are counted together, by their triggers. */
const mostNewContacts = 20

type Given = Parameters<typeof acceptAnySend>[1]
export type AcceptedSend = Omit<Given, 'contacts'> & {
	contacts: {
		id: string
		email: string
		/** Stored if the contact has no name by then. */
		name: { name: string } | null
		isNew: boolean
		/** Whether it gets other data, or another subscription, than it had when it was read. */
		isChanged: boolean
	}[]
}

/**
 * Mails refer to contacts by ids that were read before, or generated for new ones. If another request has
 * created the same contact first, the foreign key fails this statement, and the caller reads again. If the
 * idempotency key's claim was taken over meanwhile, or its request was answered with a fault because this
 * statement seemed lost, `require_claim` rolls everything back.
 */
export const acceptSend = (db: Pool | PoolClient, send: AcceptedSend) => {
	const isPlain =
		send.contacts.every(({ isChanged }) => !isChanged) &&
		send.contacts.filter(({ isNew }) => isNew).length < mostNewContacts
	return isPlain ? acceptPlainSend(db, send) : acceptAnySend(db, send)
}
