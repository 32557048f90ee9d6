import type { Pool } from 'pg'
import { bytes, text, uuid } from '../../db/sql-types.ts'
import { statement } from '../../db/statement.ts'
import type { Message } from '../../mail/message.ts'

/** Storing the same mail again changes nothing. */
const storeMail = statement('store-mail', {
	params: { projectId: uuid, emailId: uuid, to: text, from: text, subject: text, raw: bytes },
	text: `insert into mailbox_messages (project_id, email_id, "to", "from", subject, raw)
	values ($projectId, $emailId, $to, $from, $subject, $raw)
	on conflict (email_id) do nothing`,
})

/** The mailbox to which the local provider "delivers". */
export const mailboxOf = (pool: Pool) => async (message: Message, raw: Buffer) => {
	const { projectId, emailId, to, from, subject } = message
	await storeMail(pool, { projectId, emailId, to: to.email, from: from.email, subject, raw })
}
