import { defineEntity, p } from '@mikro-orm/core'
import { id, projectId } from '../columns.ts'
import { reference } from '../reference.ts'
import { sizedColumns } from '../sorted-list.ts'
import { bool, bytes, int, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** A mail that the local provider "delivered": it is stored here and stays on the machine. */
const schema = defineEntity({
	name: 'MailboxMessage',
	tableName: 'mailbox_messages',
	properties: {
		id: id(),
		projectId: projectId(),
		/** Unique: handing the same mail over again changes nothing. */
		emailId: p.uuid().unique(),
		to: p.text(),
		/** The addresses of blind copies, which are not in `raw`. */
		bcc: p.array().$type<string[]>().default([]),
		from: p.text(),
		subject: p.text(),
		/** The mail in its wire format; the other columns are read from it. */
		raw: p.blob().$type<Buffer>(),
		read: p.boolean().default(false),
		receivedAt: p.datetime(3).defaultRaw('now()'),
	},
})

export class MailboxMessage extends schema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(MailboxMessage)

/** Storing the same mail again changes nothing. */
export const storeMessage = statement('store-mailbox-message', {
	params: {
		projectId: uuid,
		emailId: uuid,
		to: text,
		bcc: text.array,
		from: text,
		subject: text,
		raw: bytes,
	},
	text: `insert into mailbox_messages (project_id, email_id, "to", bcc, "from", subject, raw)
	values ($projectId, $emailId, $to, $bcc, $from, $subject, $raw)
	on conflict (email_id) do nothing`,
})

/** Newest first. The pattern matches the subject. */
export const listMessages = statement('list-mailbox-messages', {
	params: { to: text.orNull, subject: text.orNull, before: uuid.orNull, limit: int },
	row: sizedColumns,
	text: `select id, octet_length(raw) as bytes from mailbox_messages
	where ($to::text is null or "to" = $to) and ($subject::text is null or subject ilike $subject)
		and ($before::uuid is null or id < $before)
	order by id desc limit $limit::int`,
})

/** The longest source that is read with its row. */
const shortBytes = 32 * 2 ** 10

export type FoundMessage = RowOf<typeof findMessages>

/** Newest first. A long source is left out: the event loop would be blocked by the garbage of reading it. */
export const findMessages = statement('find-mailbox-messages', {
	params: { ids: uuid.array },
	row: {
		id: uuid,
		emailId: uuid,
		to: text,
		bcc: text.array,
		from: text,
		subject: text,
		read: bool,
		receivedAt: timestamp,
		raw: bytes.orNull,
		rawBytes: int,
	},
	text: `select id, email_id as "emailId", "to", bcc, "from", subject, read, received_at as "receivedAt",
		case when octet_length(raw) <= ${shortBytes} then raw end as raw, octet_length(raw) as "rawBytes"
	from mailbox_messages where id = any($ids::uuid[]) order by id desc`,
})

/** For a thread: it may be large. */
export const sourceOfMessage = statement('source-of-mailbox-message', {
	params: { id: uuid },
	row: { raw: bytes },
	text: `select raw from mailbox_messages where id = $id`,
})

export const pieceOfSource = statement('piece-of-source-of-mailbox-message', {
	params: { id: uuid, after: int, length: int },
	row: { piece: bytes },
	text: `select substring(raw from $after::int + 1 for $length::int) as piece from mailbox_messages where id = $id`,
})

/** Without their contents, newest first. The pattern matches addresses and the subject. */
export const summariseMessages = statement('summarise-mailbox-messages', {
	params: { pattern: text.orNull, before: uuid.orNull, limit: int },
	row: {
		id: uuid,
		emailId: uuid,
		to: text,
		from: text,
		subject: text,
		read: bool,
		receivedAt: timestamp,
	},
	text: `select id, email_id as "emailId", "to", "from", subject, read, received_at as "receivedAt"
	from mailbox_messages
	where ($pattern::text is null
			or "to" ilike $pattern or "from" ilike $pattern or subject ilike $pattern)
		and ($before::uuid is null or id < $before)
	order by id desc limit $limit::int`,
})

export const countMessages = statement('count-mailbox-messages', {
	params: { pattern: text.orNull },
	row: { total: int },
	text: `select count(*)::int as total from mailbox_messages
	where $pattern::text is null
		or "to" ilike $pattern or "from" ilike $pattern or subject ilike $pattern`,
})
