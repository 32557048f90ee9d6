import { Type } from '@fastify/type-provider-typebox'
import type { WholeMessage } from '../../db/emails/mailbox-message.ts'
import { takeTurn } from '../../db/event-loop.ts'
import { bufferOf, ownBuffer } from '../../mail/threads/buffer-of.ts'
import { Component, Id, Timestamp } from '../schemas.ts'
import { threads } from '../threads/threads.ts'
import { describeMail, type ReadMail, readMail } from './mailbox-mail.ts'
import { type Preview, previewOf } from './mailbox-preview.ts'

/** Reading a larger mail would block the event loop. */
const smallBytes = 32 * 2 ** 10

type Source = Pick<WholeMessage, 'pieces' | 'rawBytes'>

/** The pieces of a large mail move to the thread that reads it: the caller loses them. */
const moved = ({ pieces }: Source) => ({
	key: 'mailbox',
	limitMs: 60_000,
	transfer: pieces.flatMap(ownBuffer),
})

/** Takes the source away from the row. */
export async function mailOf(source: Source): Promise<ReadMail> {
	await takeTurn()
	const { pieces, rawBytes } = source
	if (rawBytes <= smallBytes) return readMail(pieces)
	const mail = await threads.run('readMail', pieces, moved(source))
	return {
		...mail,
		files: mail.files.map((file) => ({ ...file, content: bufferOf(file.content) })),
	}
}

async function descriptionOf(source: Source) {
	await takeTurn()
	const { pieces, rawBytes } = source
	if (rawBytes <= smallBytes) return describeMail(pieces)
	return threads.run('describeMail', pieces, moved(source))
}

/** The body in the form for the frame. Takes the source away from the row. */
export async function shownBody(source: Source, options: Preview): Promise<string | Buffer> {
	await takeTurn()
	const { pieces, rawBytes } = source
	if (rawBytes <= smallBytes) return previewOf(await readMail(pieces), options)
	return bufferOf(await threads.run('previewMail', { pieces, options }, moved(source)))
}

export const Message = Component('MailboxMessage', {
	id: Id,
	emailId: Id,
	to: Type.String(),
	cc: Type.Array(Type.String(), { description: 'The addresses of copies' }),
	bcc: Type.Array(Type.String(), {
		description: 'The addresses of blind copies, which the mail itself does not name',
	}),
	from: Type.String(),
	subject: Type.String(),
	html: Type.String(),
	text: Type.String(),
	headers: Type.Record(Type.String(), Type.String()),
	attachments: Type.Array(
		Type.Object({ filename: Type.String(), contentType: Type.String(), size: Type.Integer() }),
	),
	read: Type.Boolean(),
	receivedAt: Timestamp,
})

/** A mail in the form for the list. Takes the source away from the row. */
export async function messageOf({ pieces, rawBytes, ...row }: WholeMessage) {
	return { ...row, ...(await descriptionOf({ pieces, rawBytes })) }
}
