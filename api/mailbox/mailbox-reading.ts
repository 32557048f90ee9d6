import { Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { type FoundMessage, pieceOfSource } from '../../db/emails/mailbox-message.ts'
import { takeTurn } from '../../db/event-loop.ts'
import { databaseOf } from '../../db/thread-database.ts'
import { bufferOf } from '../../mail/threads/buffer-of.ts'
import { Component, Id, Timestamp } from '../schemas.ts'
import { threads } from '../threads/threads.ts'
import { describeMail, type DescribedMail, fileOfMail, readMail } from './mailbox-mail.ts'
import { type Preview, previewOf } from './mailbox-preview.ts'

// A thread reads a mail with a long source, and fetches it from the database itself. A function that can't find it any
// more returns undefined.

const run = { key: 'mailbox', limitMs: 60_000 }
const storedIn = (pool: Pool, { id }: FoundMessage) => ({ database: databaseOf(pool), id })

export async function descriptionOf(
	pool: Pool,
	message: FoundMessage,
): Promise<DescribedMail | undefined> {
	await takeTurn()
	if (message.raw) return describeMail(message.raw)
	return threads.run('describeMail', storedIn(pool, message), run)
}

/** The body in the form for the frame. */
export async function shownBody(
	pool: Pool,
	message: FoundMessage,
	options: Preview,
): Promise<string | Buffer | undefined> {
	await takeTurn()
	if (message.raw) return previewOf(await readMail(message.raw), options)
	const body = await threads.run('previewMail', { ...storedIn(pool, message), options }, run)
	return body && bufferOf(body)
}

/** Null: the mail has no file at this position. */
export async function fileOf(pool: Pool, message: FoundMessage, position: number) {
	await takeTurn()
	if (message.raw) return fileOfMail(message.raw, position)
	const file = await threads.run('fileOfMail', { ...storedIn(pool, message), position }, run)
	return file && { ...file, content: bufferOf(file.content) }
}

/** The first bytes of the source. */
export async function beginningOf(pool: Pool, { id, raw }: FoundMessage, length: number) {
	if (raw) return raw.subarray(0, length)
	const [first] = await pieceOfSource(pool, { id, after: 0, length })
	return first?.piece
}

const pieceBytes = 2 ** 20

/** The source in pieces, as fast as its reader accepts them. */
export async function* sourceInPieces(pool: Pool, { id, raw, rawBytes }: FoundMessage) {
	if (raw) {
		yield raw
		return
	}
	for (let after = 0; after < rawBytes; after += pieceBytes) {
		const [next] = await pieceOfSource(pool, { id, after, length: pieceBytes })
		if (!next) throw new Error('The mail was deleted while it was read')
		yield next.piece
	}
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
export async function messageOf(pool: Pool, message: FoundMessage) {
	const described = await descriptionOf(pool, message)
	return described && { ...rowOf(message), ...described }
}

/** The same as JSON: of a long mail, the event loop only passes on what the thread has written. */
export async function messageAsJson(pool: Pool, message: FoundMessage) {
	if (message.raw) return JSON.stringify(await messageOf(pool, message))
	const task = { ...storedIn(pool, message), row: rowOf(message) }
	const json = await threads.run('mailAsJson', task, run)
	return json && bufferOf(json)
}

function rowOf(message: FoundMessage) {
	const { raw: _, rawBytes: __, ...row } = message
	return row
}
