import { attachmentsOf, bodyOf, type OpenedMail } from '../../db/emails/ledger.ts'
import { storeMessage } from '../../db/emails/mailbox-message.ts'
import { type Database, withDatabase } from '../../db/thread-database.ts'
import { composeMessage } from '../../mail/compose.ts'
import { mailOf } from '../../mail/ledger-mail.ts'
import { encoded, type EncodedMail, type Encoding } from '../../mail/encoding.ts'
import type { DkimKey } from '../../mail/mime/dkim.ts'
import { bufferOf } from '../../mail/threads/buffer-of.ts'
import type { Tracking } from '../../mail/tracked-urls.ts'
import { fileOf } from './contents.ts'

// The work on a large mail, on a thread. Only its finished bytes pass between threads, and they are moved.

export interface LargeMail {
	database: Database
	/** Without its body. */
	mail: OpenedMail
	publicUrl: string
	tracking: Tracking | null
	encoding: Encoding
	dkim: DkimKey | undefined
}

/** Two of these are less than the thread's limit: a silent database must not look like too large a mail. */
const mostMsOfQuery = 30_000

/** The mail may be sent later. Recognised by name, because the class is lost on the way from the thread. */
class NotLoaded extends Error {
	override name = 'NotLoaded'
}

export const isNotLoaded = (error: unknown) => error instanceof Error && error.name === 'NotLoaded'

export const largeMailTasks = {
	async encode({ database, mail, publicUrl, tracking, encoding, dkim }: LargeMail) {
		const { body, text, files } = await load(database, mail)
		const message = composeMessage(mailOf({ ...mail, body, text }), files, publicUrl, tracking)
		return encoded(message, encoding, dkim)
	},

	/** Stores a mail in the local mailbox. */
	async store({ database, mail }: { database: Database; mail: EncodedMail }) {
		const { content, bcc = [], ...rest } = mail
		const raw = bufferOf(content)
		await withDatabase(database, (pool) => storeMessage(pool, { ...rest, bcc, raw }))
	},
}

export type LargeMailTasks = typeof largeMailTasks

/** The body is read last: if it has not been erased by then, neither had the files. */
async function load(database: Database, { project_id: projectId, id, request_id }: OpenedMail) {
	try {
		return await withDatabase(
			database,
			async (pool) => {
				const requestIds = request_id ? [request_id] : []
				const files = (await attachmentsOf(pool, { projectId, requestIds })).map(fileOf)
				const [content] = await bodyOf(pool, { projectId, emailId: id })
				if (typeof content?.body !== 'string') throw new Error('It was erased meanwhile')
				return { body: content.body, text: content.text, files }
			},
			{ query_timeout: mostMsOfQuery },
		)
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error)
		throw new NotLoaded(`The mail could not be loaded: ${reason}`)
	}
}
