import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import { listMessages, MailboxMessage } from '../../db/emails/mailbox-message.ts'
import { containing } from '../../db/like.ts'
import { ApiError, notFound } from '../errors.ts'
import type { SendPage } from '../requests/large-pages.ts'
import { isFromThisMachine } from '../requests/loopback.ts'
import {
	about,
	Body,
	Component,
	Extended,
	Id,
	normalizeEmail,
	PathId,
	Timestamp,
} from '../schemas.ts'
import { mailboxPage, pagePolicy } from './mailbox-page.ts'
import { isClickTracked, isOpenTracked } from './mailbox-preview.ts'
import { mailOf, messageOf, shownBody } from './mailbox-reading.ts'
import { mailboxSummaries } from './mailbox-summaries.ts'

const tags = ['mailbox']
const Params = Type.Object({ id: PathId('message') })
const Before = Type.Optional(
	Type.String({ format: 'uuid', description: 'Mails older than this one' }),
)
const Filter = Type.Object({
	to: Type.Optional(Type.String({ description: 'The whole address' })),
	subject: Type.Optional(Type.String({ description: 'Part of the subject' })),
	limit: Type.Integer({ minimum: 1, default: 50, description: 'At most 1000' }),
	before: Before,
})

const Message = Component('MailboxMessage', {
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
const Mail = Extended('MailboxMail', [Message], {
	opensTracked: Type.Boolean({ description: 'Whether loading its images counts an open' }),
	clicksTracked: Type.Boolean({ description: 'Whether following its links counts a click' }),
})

interface Options {
	pool: Pool
	sendPage: SendPage
}

const rowsOfPage = 100

/**
 * The mail of the local provider. It needs no key, so it answers only requests from this machine under a
 * local name.
 */
export const mailbox: FastifyPluginAsyncTypebox<Options> = async (app, { pool, sendPage }) => {
	app.addHook('onRequest', async (request) => {
		const { headers, method } = request
		if (!isFromThisMachine(request))
			throw new ApiError(
				404,
				'RESOURCE_NOT_FOUND',
				'The mailbox can be used only on the machine that Tempost runs on',
				{
					suggestion: 'Open it on the machine that Tempost runs on, under http://localhost.',
				},
			)
		if (!['GET', 'HEAD'].includes(method) && !isOwnOrigin(headers.origin, headers.host))
			throw new ApiError(403, 'FORBIDDEN', 'Only the mailbox page itself may change the mailbox', {
				suggestion: 'Send the request without an Origin header, or from the mailbox page.',
			})
	})

	await app.register(mailboxSummaries, { pool })

	app.get(
		'/mailbox',
		{
			config: { auth: 'none', answers: 'text/html' },
			schema: {
				tags,
				summary: 'Show the local mailbox',
				description:
					'Shows mail that the local provider has taken instead of sending it. It answers only on the machine itself.',
				querystring: Type.Object({
					id: Type.Optional(about('The mail to show.', Id)),
					view: Type.Optional(Type.String({ description: 'The part of the mail to show.' })),
					search: Type.Optional(Type.String({ description: 'Part of an address or a subject.' })),
					before: Before,
				}),
			},
		},
		async ({ em, query }, reply) => {
			const { id, search, before } = query
			const rows = await em.find(
				MailboxMessage,
				{
					...(search ? { $or: columns.map((column) => matching(column, search)) } : {}),
					...(before ? { id: { $lt: before } } : {}),
				},
				{ orderBy: { id: 'desc' }, limit: rowsOfPage + 1, exclude: ['raw'] },
			)
			const row = id ? await em.findOne(MailboxMessage, id, { refresh: true }) : null
			const open = row && { row, mail: await mailOf(row.raw) }
			const list = { rows: rows.slice(0, rowsOfPage), hasOlder: rows.length > rowsOfPage }
			return reply
				.header('content-security-policy', pagePolicy)
				.type('text/html; charset=utf-8')
				.send(mailboxPage(list, open, query))
		},
	)

	app.get(
		'/mailbox/messages',
		{
			config: { auth: 'none' },
			schema: {
				tags,
				summary: 'List the mails of the local mailbox, newest first',
				description:
					'For tests of your application: read here what it has sent. It answers only on the machine itself.',
				querystring: Filter,
				response: { 200: Type.Object({ messages: Type.Array(Message) }) },
			},
		},
		async ({ em, query: { to, subject, limit, before } }, reply) =>
			sendPage(reply, {
				listed: await listMessages(pool, {
					to: to ? normalizeEmail(to) : null,
					subject: subject ? containing(subject) : null,
					before: before ?? null,
					limit: Math.min(limit, 1000),
				}),
				read: async (ids) => {
					const rows = await em.find(
						MailboxMessage,
						{ id: { $in: ids } },
						{ orderBy: { id: 'desc' }, disableIdentityMap: true },
					)
					const messages = []
					for (const row of rows) messages.push(await messageOf(row))
					return messages
				},
				answer: (messages) => ({ messages }),
			}),
	)

	app.get(
		'/mailbox/messages/:id',
		{
			config: { auth: 'none', neverStored: true },
			schema: {
				tags,
				summary: 'Get a mail of the local mailbox',
				description: 'It does not count as an open, and the mail stays unread.',
				params: Params,
				response: { 200: Mail },
			},
		},
		async ({ em, params: { id } }) => {
			const message = await messageOf(await found(em, id))
			return {
				...message,
				opensTracked: isOpenTracked(message),
				clicksTracked: isClickTracked(message),
			}
		},
	)

	app.patch(
		'/mailbox/messages/:id',
		{
			config: { auth: 'none' },
			schema: {
				tags,
				summary: 'Mark a mail of the local mailbox as read or unread',
				description: 'For the page alone: it does not count as an open.',
				params: Params,
				body: Body(
					{ read: true },
					{ read: Type.Boolean({ description: 'Whether the mail counts as read.' }) },
				),
				response: { 204: Type.Null() },
			},
		},
		async ({ em, params: { id }, body: { read } }, reply) => {
			if ((await em.nativeUpdate(MailboxMessage, id, { read })) === 0) throw notFound('message', id)
			return reply.code(204).send(null)
		},
	)

	app.delete(
		'/mailbox/messages/:id',
		{
			config: { auth: 'none' },
			schema: {
				tags,
				summary: 'Delete a mail from the local mailbox',
				description: 'The ledger at /emails keeps its entry.',
				params: Params,
				response: { 204: Type.Null() },
			},
		},
		async ({ em, params: { id } }, reply) => {
			if ((await em.nativeDelete(MailboxMessage, id)) === 0) throw notFound('message', id)
			return reply.code(204).send(null)
		},
	)

	app.delete(
		'/mailbox/messages',
		{
			config: { auth: 'none' },
			schema: {
				tags,
				summary: 'Empty the local mailbox',
				description:
					'Removes the mails of every project from the mailbox. The ledger at /emails keeps its entries.',
				response: { 204: Type.Null() },
			},
		},
		async ({ em }, reply) => {
			await em.nativeDelete(MailboxMessage, {})
			return reply.code(204).send(null)
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
		async ({ em, params }, reply) => {
			const { raw } = await found(em, params.id)
			return reply
				.type('message/rfc822')
				.header('content-disposition', `attachment; filename="${params.id}.eml"`)
				.send(raw)
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
		async ({ em, params, query }, reply) => {
			const { raw } = await found(em, params.id)
			// This HTML is foreign: nothing in it may run or reach our pages.
			return reply
				.header(
					'content-security-policy',
					"sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src * data:; style-src * 'unsafe-inline'; font-src *",
				)
				.type('text/html; charset=utf-8')
				.send(await shownBody(raw, query))
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
		async ({ em, params }, reply) => {
			const mail = await mailOf((await found(em, params.id)).raw)
			const file = mail.files[params.position]
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

/** Programs send no Origin. Pages do, and a mail in its sandbox sends `null`. */
const isOwnOrigin = (origin: string | undefined, host: string | undefined) =>
	origin === undefined || origin === `http://${host}` || origin === `https://${host}`

const columns = ['from', 'to', 'subject'] as const
const matching = (column: (typeof columns)[number], part: string) => ({
	[column]: { $ilike: containing(part) },
})

async function found(em: EntityManager, id: string) {
	const row = await em.findOne(MailboxMessage, id)
	if (!row) throw notFound('message', id)
	return row
}
