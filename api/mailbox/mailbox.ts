import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { findMessages, listMessages, MailboxMessage } from '../../db/emails/mailbox-message.ts'
import { containing } from '../../db/like.ts'
import { ApiError, notFound } from '../errors.ts'
import type { SendPage } from '../requests/large-pages.ts'
import { isFromThisMachine } from '../requests/loopback.ts'
import { about, Body, Id, normalizeEmail } from '../schemas.ts'
import { mailboxContents, Params } from './mailbox-contents.ts'
import { mailboxPage, mostShown, pagePolicy } from './mailbox-page.ts'
import { beginningOf, descriptionOf, Message, messageOf } from './mailbox-reading.ts'
import { mailboxSummaries } from './mailbox-summaries.ts'

const tags = ['mailbox']
const Before = Type.Optional(
	Type.String({ format: 'uuid', description: 'Mails older than this one' }),
)
const Filter = Type.Object({
	to: Type.Optional(Type.String({ description: 'The whole address' })),
	subject: Type.Optional(Type.String({ description: 'Part of the subject' })),
	limit: Type.Integer({ minimum: 1, default: 50, description: 'At most 1000' }),
	before: Before,
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
	await app.register(mailboxContents, { pool })

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
			const open = id ? await opened(id, query.view) : null
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
		async ({ query: { to, subject, limit, before } }, reply) =>
			sendPage(reply, {
				listed: await listMessages(pool, {
					to: to ? normalizeEmail(to) : null,
					subject: subject ? containing(subject) : null,
					before: before ?? null,
					limit: Math.min(limit, 1000),
				}),
				read: async (ids) => {
					const messages = []
					for (const found of await findMessages(pool, { ids })) {
						const message = await messageOf(pool, found)
						if (message) messages.push(message)
					}
					return messages
				},
				answer: (messages) => ({ messages }),
			}),
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

	/** Null: it is not in the mailbox any more. */
	async function opened(id: string, view: string | undefined) {
		const [row] = await findMessages(pool, { ids: [id] })
		const mail = row && (await descriptionOf(pool, row))
		if (!mail) return null
		const beginning = view === 'source' ? await beginningOf(pool, row, mostShown) : undefined
		return { row, mail, beginning }
	}
}

/** Programs send no Origin. Pages do, and a mail in its sandbox sends `null`. */
const isOwnOrigin = (origin: string | undefined, host: string | undefined) =>
	origin === undefined || origin === `http://${host}` || origin === `https://${host}`

const columns = ['from', 'to', 'subject'] as const
const matching = (column: (typeof columns)[number], part: string) => ({
	[column]: { $ilike: containing(part) },
})
