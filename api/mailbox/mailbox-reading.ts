import { Type } from '@fastify/type-provider-typebox'
import type { WholeMessage } from '../../db/emails/mailbox-message.ts'
import { takeTurn } from '../../db/event-loop.ts'
import { bufferOf } from '../../mail/threads/buffer-of.ts'
import { Component, Id, Timestamp } from '../schemas.ts'
import { threads } from '../threads/threads.ts'
import { describeMail, type ReadMail, readMail } from './mailbox-mail.ts'
import { type Preview, previewOf } from './mailbox-preview.ts'

/** Reading a larger mail would block the event loop. */
const smallBytes = 32 * 2 ** 10
const run = { key: 'mailbox', limitMs: 60_000 }

export async function mailOf(raw: Buffer): Promise<ReadMail> {
	await takeTurn()
	if (raw.length <= smallBytes) return readMail(raw)
	const mail = await threads.run('readMail', raw, run)
	return {
		...mail,
		files: mail.files.map((file) => ({ ...file, content: bufferOf(file.content) })),
	}
}

async function descriptionOf(raw: Buffer) {
	await takeTurn()
	return raw.length <= smallBytes ? describeMail(raw) : threads.run('describeMail', raw, run)
}

/** The body in the form for the frame. */
export async function shownBody(raw: Buffer, options: Preview): Promise<string | Buffer> {
	await takeTurn()
	if (raw.length <= smallBytes) return previewOf(await readMail(raw), options)
	return bufferOf(await threads.run('previewMail', { raw, options }, run))
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

/** A mail in the form for the list. */
export async function messageOf({
	id,
	emailId,
	to,
	bcc,
	from,
	subject,
	raw,
	read,
	receivedAt,
}: WholeMessage) {
	return { id, emailId, to, bcc, from, subject, read, receivedAt, ...(await descriptionOf(raw)) }
}
