import type { Pool, PoolClient } from 'pg'
import { refusedAt } from '../contacts/contact-writing.ts'
import { isUndoable } from '../imports/import-undo.ts'
import { json, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

// A send takes two round trips. One reads everything for deciding and rendering
// (db/emails/acceptance-contexts.ts); the other writes
// everything in one statement, and so in one transaction. Requests that arrive together share both: see
// db/emails/acceptance-groups.ts.

/** One for many contacts, because it may be large. */
export interface ContactChange {
	data: Record<string, unknown>
	removedKeys: string[]
	/** null: as it is. */
	subscribed: boolean | null
}

interface GivenContact {
	id: string
	email: string
	/** Stored if the contact has no name by then. */
	name: { name: string } | null
	change: ContactChange
	isNew: boolean
	/** Whether it gets other data, or another subscription, than it had when it was read. */
	isChanged: boolean
}

/** A message to one or more recipients. Its id is the `request_id` of its mails and files. */
interface AcceptedMessage {
	requestId: string
	/** null: now. */
	scheduledFor: Date | null
	/** Whether its contacts must still be subscribed when it leaves. */
	needsConsent: boolean
	throttleKey: string | null
	mails: { id: string; subject: string; body: string; text: string | null }[]
	files: object[]
}

/** A request, with all that it writes. */
export interface AcceptedSend {
	projectId: string
	contacts: GivenContact[]
	/** More than one in a batch. */
	messages: AcceptedMessage[]
	key: string | null
	claimId: string | null
	response: object | null
	/** The `traceparent` of the request, if tracing is on. */
	trace: string | null
}

/** What requests write apart from contacts. */
const writeParams = {
	projectId: uuid,
	requests: json<object[]>(),
	mails: json<object[]>(),
	files: json<object[]>(),
}

const requestColumns = `"requestId" uuid, "emailIds" uuid[], key text, "claimId" uuid, response jsonb, trace text`
const laterColumns = `, "scheduledFor" timestamptz, "needsConsent" bool`

const scheduling = `scheduled as (
		insert into scheduled_sends (project_id, email_id, due_at, needs_consent)
		select $projectId, m.id, m.scheduled_for, coalesce(a."needsConsent", false)
		from mails m join asked a on a."requestId" = m.request_id where m.scheduled_for is not null
	), `

/** `isLater`: some of the mails may be scheduled. */
const writing = (isLater: boolean) => `asked as materialized (
		select * from jsonb_to_recordset($requests::jsonb) as r(${requestColumns}${isLater ? laterColumns : ''})
	), mails as (
		insert into emails (project_id, id, contact_id, "to", to_name, copies, "from", from_name, reply_to,
			subject, body, "text", tags, headers, content_language, language, type, source_type, needs_consent,
			template_id, request_id, attachments, render_fault${isLater ? ', status, scheduled_for, throttle_key' : ''})
		select $projectId, id, "contactId", "to", "toName", copies, "from", "fromName", "replyTo",
			subject, body, "text", tags, headers, "contentLanguage", language, type, 'TRANSACTIONAL', "needsConsent",
			"templateId", "requestId", attachments, "renderFault"${
				isLater
					? `,
			case when "scheduledFor" is null then 'PENDING' else 'SCHEDULED' end, "scheduledFor", "throttleKey"`
					: ''
			}
		from jsonb_to_recordset($mails::jsonb) as m(id uuid, "contactId" uuid, "to" text, "toName" text, copies jsonb,
			"from" text, "fromName" text, "replyTo" text, subject text, body text, "text" text, tags jsonb, headers jsonb,
			"contentLanguage" text, language text, type text, "needsConsent" bool, "templateId" uuid, "requestId" uuid,
			attachments jsonb, "renderFault" text${isLater ? `, "scheduledFor" timestamptz, "throttleKey" text` : ''})
		where (select begun from counting)
		returning project_id, created_at, source_type, attachments, status${
			isLater ? ', id, request_id, scheduled_for' : ''
		}
	), ${isLater ? scheduling : ''}files as (
		insert into attachments (project_id, request_id, position, filename, content_type, content_id,
			inline, content)
		select $projectId, "requestId", position, filename, "contentType", "contentId", inline,
			decode(content, 'base64')
		from jsonb_to_recordset($files::jsonb) as f("requestId" uuid, position int, filename text,
			"contentType" text, "contentId" text, inline bool, content text)
	), queued as (
		insert into queued_sends (project_id, request_id, email_ids, trace)
		select $projectId, "requestId", "emailIds", trace from asked${
			isLater ? ` where "scheduledFor" is null and cardinality("emailIds") > 0` : ''
		}
	), keyed as (
		update idempotency_keys k set status_code = 200, response = r.response
		from asked r
		where k.project_id = $projectId and k.key = any(array(select key from asked where key is not null))
			and k.key = r.key and k.claim_id = r."claimId" and k.status_code is null
		returning 1
	)`

const areKeysHeld = `require_claim((select count(*) from keyed) = (select count(key) from asked))`

const changeOfThis = `($changes::jsonb -> coalesce(($places::jsonb ->> excluded.email)::int, 0))`
const dataAfter = `excluded.data || (c.data - array(select jsonb_array_elements_text(${changeOfThis} -> 'removedKeys')))
				|| (${changeOfThis} -> 'data')`
const stated = `(${changeOfThis} ->> 'subscribed')::bool`
const subscribedAfter = `coalesce(${stated}, c.subscribed)`

/** Writes contacts, changes of their subscription, mails, files and the queued send. */
const acceptAnySend = statement('accept-send', {
	params: {
		...writeParams,
		contacts: json<object[]>(),
		changes: json<object[]>(),
		/** By address: the place of the contact's change, unless it is the first. */
		places: json<Record<string, number>>(),
	},
	text: `with given as (
		select id, email, name, $changes::jsonb -> change as change
		from jsonb_to_recordset($contacts::jsonb) as g(id uuid, email text, name jsonb, change int)
	), upserted as (
		insert into contacts as c (id, project_id, email, subscribed, refused_at, data)
		select id, $projectId, email, coalesce((change ->> 'subscribed')::bool, false),
			${refusedAt(`(change ->> 'subscribed')::bool`)},
			coalesce(name, '{}') || (change -> 'data')
		from given order by email
		on conflict (project_id, email) do update set
			data = ${dataAfter}, subscribed = ${subscribedAfter}, updated_at = now(),
			refused_at = ${refusedAt(stated, 'c.refused_at')}
		where c.data <> ${dataAfter} or c.subscribed <> ${subscribedAfter}
			-- A repeated decision counts, too: jobs and undos must see that it was stated since.
			or not ${stated} or ${stated} and ${isUndoable('c.id')}
		returning new.id, new.subscribed, old.subscribed <> new.subscribed as flipped
	), flips as (
		insert into events (project_id, name, contact_id)
		select $projectId, case when subscribed then 'contact.subscribed'
			else 'contact.unsubscribed' end, id
		from upserted where flipped
	), counting as (
		-- Triggers count all of it.
		select true as begun
	), ${writing(true)}
	select ${areKeysHeld}`,
})

/**
 * The same for requests that change no contact. Triggers run for each statement, even if it touches no
 * row, and cost more than the mail. So this statement counts what it writes (db/counting.sql), and it
 * locks the contacts that its mails refer to, in the order of their ids. A contact that was deleted or
 * renamed meanwhile fails it, and so does one that another request has created.
 */
const acceptPlainSends = statement('accept-plain-sends', {
	params: { ...writeParams, contacts: json<object[]>(), newContacts: json<object[]>() },
	text: `with counting as materialized (
		select count_itself() as begun
	), given as materialized (
		select * from jsonb_to_recordset($contacts::jsonb) as g(id uuid, email text)
	), locked as materialized (
		select count(*) as contacts from (
			select from (select id, email from given order by id) g
			cross join lateral (
				select from contacts c where c.project_id = $projectId and c.id = g.id and c.email = g.email
				for key share) c) found
	), created as (
		insert into contacts (id, project_id, email, subscribed, refused_at, data)
		select id, $projectId, email, coalesce(subscribed, false), ${refusedAt('subscribed')}, data
		from jsonb_to_recordset($newContacts::jsonb) as n(id uuid, email text, subscribed bool, data jsonb)
		where (select begun from counting) order by email
		returning project_id, subscribed, data
	), fields_counted as (
		insert into contact_field_changes (project_id, key, type, value, count)
		select project_id, key, contact_field_type(value), contact_field_value(value), count(*)
		from created cross join lateral (
			select key, value from jsonb_each(data) where key <> ''
			union all select '', to_jsonb(subscribed)) field
		where value <> 'null' group by project_id, key, value
		returning 1
	), ${writing(false)}, mails_counted as (
		insert into mail_tallies (project_id, slot, created)
		select project_id, quarter_of(created_at), count(*) from mails group by 1, 2
	), usage_counted as (
		insert into usage_tallies (project_id, month, category, used, sent)
		select project_id, month_of(created_at), usage_category(source_type), sum(usage_weight(attachments)), 0
		from mails where is_charged(project_id, status) group by 1, 2, 3
	)
	select ${areKeysHeld},
		case when (select contacts from locked) < (select count(*) from given)
			then raise_missing_reference('emails', 'emails_contact') end,
		case when random() < (select count(*) from fields_counted) / 2048.0
			then fold_contact_fields($projectId) end`,
})

/** More new contacts are counted together, by their triggers. */
const mostNewContacts = 200

/**
 * Writes a request. Mails refer to contacts by ids that were read before, or generated for new ones. If
 * another request has created the same contact first, the foreign key fails this statement, and the caller
 * reads again. If the idempotency key's claim was taken over meanwhile, or its request was answered with a
 * fault because this statement seemed lost, `require_claim` rolls everything back.
 */
export const acceptSend = (db: Pool | PoolClient, send: AcceptedSend) =>
	isPlain(send)
		? acceptPlain(db, send.projectId, [send])
		: acceptAnySend(db, {
				projectId: send.projectId,
				...changesOf(send),
				...writtenBy([send]),
			})

/** Whether all is sent now, without changing a contact or creating many. */
export const isPlain = ({ contacts, messages }: AcceptedSend) =>
	messages.every(
		({ mails, scheduledFor, throttleKey }) =>
			mails.length > 0 && !scheduledFor && throttleKey === null,
	) &&
	contacts.every(({ isChanged }) => !isChanged) &&
	contacts.filter(({ isNew }) => isNew).length < mostNewContacts

export const acceptPlain = (db: Pool | PoolClient, projectId: string, sends: AcceptedSend[]) =>
	acceptPlainSends(db, {
		projectId,
		...writtenBy(sends),
		contacts: sends.flatMap(({ contacts }) =>
			contacts.flatMap(({ id, email, isNew }) => (isNew ? [] : { id, email })),
		),
		newContacts: sends.flatMap(({ contacts }) =>
			contacts.flatMap(({ id, email, name, change: { subscribed, data }, isNew }) =>
				isNew ? { id, email, subscribed, data: { ...name, ...data } } : [],
			),
		),
	})

/** Each change once, with its place. */
function changesOf({ contacts }: AcceptedSend) {
	const changes = [...new Set(contacts.map(({ change }) => change))]
	const placeOf = new Map(changes.map((change, place) => [change, place]))
	const placed = contacts.map(({ id, email, name, change }) => ({
		id,
		email,
		name,
		change: placeOf.get(change)!,
	}))
	const places = Object.fromEntries(
		placed.flatMap(({ email, change }) => (change === 0 ? [] : [[email, change]])),
	) as Record<string, number>
	return { contacts: placed, changes, places }
}

/** The first message of a request carries the request's key. */
const writtenBy = (sends: AcceptedSend[]) => ({
	requests: sends.flatMap(({ messages, key, claimId, response, trace }) =>
		messages.map(({ requestId, mails, scheduledFor, needsConsent }, place) => ({
			requestId,
			...(scheduledFor && { scheduledFor, needsConsent }),
			emailIds: mails.map(({ id }) => id),
			...(place === 0 ? { key, claimId, response } : {}),
			trace,
		})),
	),
	mails: ofMessages(sends, ({ mails, scheduledFor, throttleKey, needsConsent }) =>
		scheduledFor || throttleKey !== null || needsConsent
			? mails.map((mail) => ({
					...mail,
					scheduledFor,
					throttleKey,
					...(needsConsent && { needsConsent }),
				}))
			: mails,
	),
	files: ofMessages(sends, ({ files }) => files),
})

const ofMessages = (sends: AcceptedSend[], parts: (message: AcceptedMessage) => object[]) =>
	sends.flatMap(({ messages }) =>
		messages.flatMap((message) =>
			parts(message).map((part) => ({ ...part, requestId: message.requestId })),
		),
	)
