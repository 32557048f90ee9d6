import type { Pool } from 'pg'
import { statement } from '../../db/statement.ts'
import type { Message } from '../rendering/message.ts'

/** Storing the same mail again changes nothing. */
const storeMail = statement(
	'store-mail',
	`insert into mailbox_messages (project_id, email_id, "to", "from", subject, raw)
	values ($1, $2, $3, $4, $5, $6)
	on conflict (email_id) do nothing`,
)

/** Where the local provider puts what it "delivers". */
export const mailboxOf = (pool: Pool) => async (message: Message, raw: Buffer) => {
	const { projectId, emailId, to, from, subject } = message
	await storeMail(pool, [projectId, emailId, to.email, from.email, subject, raw])
}
