import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { Readable } from 'node:stream'
import type { Pool } from 'pg'
import { findMessages } from '../../db/emails/mailbox-message.ts'
import { notFound } from '../errors.ts'
import { Extended, PathId } from '../schemas.ts'
import { fileOf, Message, messageAsJson, shownBody, sourceInPieces } from './mailbox-reading.ts'

const tags = ['mailbox']
export const Params = Type.Object({ id: PathId('message') })
const Mail = Extended('MailboxMail', [Message], {
	opensTracked: Type.Boolean({ description: 'Whether loading its images counts an open' }),
	clicksTracked: Type.Boolean({ description: 'Whether following its links counts a click' }),
})

/** One mail of the mailbox: what it says, its body for a frame, its source and its files. */
export const mailboxContents: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/mailbox/messages/:id',
		{
			config: { auth: 'none', neverKept: true },
			schema: {
				tags,
				summary: 'Get a mail of the local mailbox',
				description: 'It does not count as an open, and the mail stays unread.',
				params: Params,
				response: { 200: Mail },
			},
		},
		async ({ params: { id } }, reply) => {
			const message = present(id, await messageAsJson(pool, await found(pool, id)))
			return reply.type('application/json; charset=utf-8').send(message as never)
		},
	)

	app.get(
		'/mailbox/messages/:id/raw',
		{
			config: { auth: 'none', answers: 'message/rfc822' },
			schema: {
				tags,
				summary: 'Get the source of a mail in the local mailbox',
				description: 'The message as it would have been sent, with all headers.',
				params: Params,
			},
		},
		async ({ params }, reply) => {
			const message = await found(pool, params.id)
			return reply
				.type('message/rfc822')
				.header('content-disposition', `attachment; filename="${params.id}.eml"`)
				.header('content-length', message.rawBytes)
				.send(Readable.from(sourceInPieces(pool, message), { objectMode: false }))
		},
	)

	app.get(
		'/mailbox/messages/:id/html',
		{
			config: { auth: 'none', answers: 'text/html' },
			schema: {
				tags,
				summary: 'Get the body of a mail in the local mailbox',
				description:
					'Shown without the tracking pixel, so looking at it does not count as an open.',
				params: Params,
				querystring: Type.Object({
					pixel: Type.Boolean({ default: false, description: 'Load the tracking pixel' }),
				}),
			},
		},
		async ({ params, query }, reply) => {
			const message = await found(pool, params.id)
			// This HTML is foreign: nothing in it may run or reach our pages.
			return reply
				.header(
					'content-security-policy',
					"sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src * data:; style-src * 'unsafe-inline'; font-src *",
				)
				.type('text/html; charset=utf-8')
				.send(present(params.id, await shownBody(pool, message, query)))
		},
	)

	app.get(
		'/mailbox/messages/:id/attachments/:position',
		{
			config: { auth: 'none', answers: 'application/octet-stream' },
			schema: {
				tags,
				summary: 'Get a file of a mail in the local mailbox',
				description: 'The bytes of the attachment.',
				params: Type.Object({
					id: PathId('message'),
					position: Type.Integer({
						minimum: 0,
						'x-resource': 'attachment',
						description: 'The position of the file in the mail. The first is 0.',
					}),
				}),
			},
		},
		async ({ params }, reply) => {
			const message = await found(pool, params.id)
			const file = present(params.id, await fileOf(pool, message, params.position))
			if (!file) throw notFound('attachment', params.position)
			return reply
				.type('application/octet-stream')
				.header(
					'content-disposition',
					`attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
				)
				.send(file.content)
		},
	)
}

async function found(pool: Pool, id: string) {
	const [message] = await findMessages(pool, { ids: [id] })
	return present(id, message)
}

function present<T>(id: string, read: T | undefined): T {
	if (read === undefined) throw notFound('message', id)
	return read
}
