import { sourceOfMessage } from '../../db/emails/mailbox-message.ts'
import { type Database, withDatabase } from '../../db/thread-database.ts'
import { describeMail, fileOfMail, readMail } from './mailbox-mail.ts'
import { type Preview, previewOf } from './mailbox-preview.ts'

interface Stored {
	database: Database
	id: string
}

/** The threads' part of reading large mails. Each results in undefined if the mail was deleted meanwhile. */
export const mailboxTasks = {
	describeMail: (stored: Stored) => read(stored, describeMail),
	/** With what the row says of it, as JSON. */
	mailAsJson: ({ row, ...stored }: Stored & { row: object }) =>
		read(stored, async (raw) =>
			Buffer.from(JSON.stringify({ ...row, ...(await describeMail(raw)) })),
		),
	previewMail: ({ options, ...stored }: Stored & { options: Preview }) =>
		read(stored, async (raw) => Buffer.from(previewOf(await readMail(raw), options))),
	fileOfMail: ({ position, ...stored }: Stored & { position: number }) =>
		read(stored, (raw) => fileOfMail(raw, position)),
}

async function read<T>({ database, id }: Stored, use: (raw: Buffer) => Promise<T>) {
	const [stored] = await withDatabase(database, (pool) => sourceOfMessage(pool, { id }))
	return stored && use(stored.raw)
}
