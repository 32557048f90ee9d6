import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { countMessages, summariseMessages } from '../../db/emails/mailbox-message.ts'
import { containing } from '../../db/like.ts'
import {
	Component,
	Cursor,
	cursorPage,
	decodeCursor,
	encodeCursor,
	Id,
	Timestamp,
} from '../schemas.ts'

const Summary = Component('MailboxSummary', {
	id: Id,
	emailId: Id,
	to: Type.String(),
	from: Type.String(),
	subject: Type.String(),
	read: Type.Boolean(),
	receivedAt: Timestamp,
})
const Position = Type.Tuple([Id])

/** The list of a page that shows the mailbox: it asks often, and needs no contents. */
export const mailboxSummaries: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (
	app,
	{ pool },
) => {
	app.get(
		'/mailbox/summaries',
		{
			config: { auth: 'none' },
			schema: {
				tags: ['mailbox'],
				summary: 'List the mails of the local mailbox without their contents, newest first',
				description:
					'For pages that show the mailbox. It answers only on the machine itself, and shows the mails of every project.',
				querystring: Type.Object({
					search: Type.Optional(Type.String({ description: 'Part of an address or a subject' })),
					cursor: Cursor,
					limit: Type.Integer({ minimum: 1, default: 50, description: 'At most 100' }),
				}),
				response: { 200: cursorPage(Summary) },
			},
		},
		async ({ query: { search, cursor, limit } }) => {
			const size = Math.min(limit, 100)
			const pattern = search ? containing(search) : null
			const [before] = cursor === undefined ? [] : decodeCursor(Position, cursor)
			const [rows, [count]] = await Promise.all([
				summariseMessages(pool, { pattern, before: before ?? null, limit: size + 1 }),
				cursor === undefined ? countMessages(pool, { pattern }) : [],
			])
			const data = rows.slice(0, size)
			const hasMore = rows.length > size
			return {
				data,
				...(hasMore ? { cursor: encodeCursor([data.at(-1)!.id]) } : {}),
				hasMore,
				total: count?.total ?? 0,
			}
		},
	)
}
