import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import {
	addSuppression,
	countSuppressions,
	listSuppressions,
	removeSuppression,
	suppressionReasons,
} from '../../db/reputation/suppression.ts'
import { readOrScan } from '../../db/timed-reading.ts'
import { notFound, searchTooSlow } from '../errors.ts'
import {
	about,
	Body,
	Component,
	Cursor,
	CursorTime,
	cursorPage,
	decodeCursor,
	Email,
	encodeCursor,
	Id,
	normalizeEmail,
	Nullable,
	Timestamp,
} from '../schemas.ts'

const Reason = Type.Enum([...suppressionReasons])
const Suppression = Component('Suppression', {
	email: Type.String(),
	reason: Reason,
	emailId: Nullable(Id),
	createdAt: Timestamp,
})
const Position = Type.Tuple([CursorTime, Type.String({ pattern: '^[\\x21-\\x7e]{1,254}$' })])

const config = { auth: 'secret key or session' } as const
const tags = ['suppressions']
const tries = 5
const mostMs = 5000

export const suppressions: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/suppressions',
		{
			config,
			schema: {
				tags,
				summary: 'List addresses that get no mail, newest first',
				description:
					'Addresses that bounced, complained or were added by hand. No mail of any type is sent to them.',
				querystring: Type.Object({
					search: Type.Optional(Type.String({ description: 'Part of the address' })),
					reason: Type.Optional(about('Only addresses with this reason.', Reason)),
					cursor: Cursor,
					limit: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
				}),
				response: { 200: cursorPage(Suppression) },
			},
		},
		async ({ project, query: { search, reason, cursor, limit } }) => {
			const size = Math.min(limit, 100)
			const where = {
				projectId: project.id,
				reason: reason ?? null,
				pattern: search?.trim().toLowerCase() || null,
			}
			const [time, email] = cursor === undefined ? [] : decodeCursor(Position, cursor)
			const after = time === undefined ? null : new Date(time).toISOString()
			const place = { afterAt: after, afterEmail: email ?? null, limit: size + 1 }
			const found = await readOrScan(pool, project.id, mostMs, async (db) => ({
				rows: await listSuppressions(db, { ...where, ...place }),
				count: cursor === undefined ? await countSuppressions(db, where) : [],
			}))
			if (!found) throw searchTooSlow()
			const { rows, count } = found
			const data = rows.slice(0, size)
			const last = data.at(-1)
			const hasMore = rows.length > size
			return {
				data,
				...(hasMore && last
					? { cursor: encodeCursor([last.createdAt.getTime(), last.email]) }
					: {}),
				hasMore,
				total: count[0]?.total ?? 0,
			}
		},
	)

	app.post(
		'/suppressions',
		{
			config,
			schema: {
				tags,
				summary: 'Add an address to the suppression list',
				description:
					'An address that is already on the list keeps its entry, and the status is 200. Only UNSUBSCRIBED_ALL is replaced by your reason: its reader could take it back.',
				body: Body(
					{ email: 'ann@example.org' },
					{
						email: about('The address that gets no more mail.', Email),
						reason: Type.Optional(about('MANUAL unless you set it.', Reason)),
					},
				),
				response: { 200: Suppression, 201: Suppression },
			},
		},
		async ({ project, body }, reply) => {
			const values = {
				projectId: project.id,
				email: normalizeEmail(body.email),
				reason: body.reason ?? 'MANUAL',
			}
			// Another request may have added it after our statement began to look.
			for (let attempt = 0; attempt < tries; attempt++) {
				const [added] = await addSuppression(pool, values)
				if (added) return reply.code(added.isNew ? 201 : 200).send(added)
			}
			throw new Error('A suppression was added and removed again too often')
		},
	)

	app.delete(
		'/suppressions/:email',
		{
			config: { ...config, errors: [404] },
			schema: {
				tags,
				summary: 'Remove an address from the suppression list',
				description: 'An address that still bounces will be suppressed again.',
				params: Type.Object({
					email: Type.String({ description: 'The address, percent-encoded.' }),
				}),
				response: { 204: Type.Null() },
			},
		},
		async ({ project, params }, reply) => {
			const email = normalizeEmail(params.email)
			const [removed] = await removeSuppression(pool, { projectId: project.id, email })
			if (!removed) throw notFound('suppression', email)
			return reply.code(204).send(null)
		},
	)
}
