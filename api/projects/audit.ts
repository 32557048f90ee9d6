import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { inTime } from '../../db/in-time.ts'
import { type AuditRecord, countAudit, listAudit, recordAudit } from '../../db/projects/audit.ts'
import { isReading } from '../accounts/session-auth.ts'
import {
	about,
	Component,
	Cursor,
	cursorPage,
	decodeCursor,
	encodeCursor,
	Id,
	Nullable,
	Timestamp,
} from '../schemas.ts'
import { ProjectParams } from './projects.ts'

declare module 'fastify' {
	interface FastifyRequest {
		/** The public id of the project that the request has created: its first change. */
		madeProjectId: string | null
	}
}

/** POST routes that change nothing, and tracking: these are uses of a project, not changes. */
const unnoted = new Set([
	'POST /contacts/lookup',
	'POST /contacts/query',
	'POST /segments/preview',
	'POST /campaigns/audience',
	'POST /templates/preview',
	'POST /templates/:id/preview',
	'POST /segments/:id/refresh',
	'POST /workflows/:id/validate',
	'POST /workflows/:id/graph/validate',
	'POST /events/track',
	'POST /webhook-endpoints/:id/test',
])

/** The longest an answer waits for its audit entry. */
const patienceMs = 1000

/**
 * Writes every change by a session or a secret key to the audit log, before its answer is sent: one
 * place for all routes. Sending and tracking have the ledger and the events instead. If writing
 * fails, the change has still happened, and our log says who made it.
 */
export function keepAudit(app: FastifyInstance, pool: Pool) {
	app.decorateRequest('madeProjectId', null)
	app.addHook('onSend', async (request, reply) => {
		const entry = entryOf(request, reply)
		if (!entry) return
		const recorded = recordAudit(pool, entry).catch((err: Error) =>
			request.log.error(
				{ err, action: entry.action, userId: request.visitor?.user.id ?? null },
				'a change could not be written to the audit log',
			),
		)
		await inTime(patienceMs, recorded)
	})
}

function entryOf(request: FastifyRequest, reply: FastifyReply) {
	const { method, routeOptions, visitor, caller } = request
	const { auth } = routeOptions.config
	const projectId = request.madeProjectId ?? caller?.publicId
	const action = `${method} ${routeOptions.url}`
	if (!projectId || isReading(method) || reply.statusCode >= 400 || unnoted.has(action)) return null
	if (auth !== 'session' && auth !== 'secret key or session') return null
	const actor = visitor?.user.email ?? `sk_…${caller!.secretKeyEnding}`
	const userId = visitor?.user.id ?? null
	return auditEntryOf(request, { projectIds: [projectId], userId, actor }, reply.statusCode)
}

interface Deed {
	/** The public ids of the projects. */
	projectIds: string[]
	userId: string | null
	actor: string
}

/** The arguments of `recordAudit`, for routes that identify the user themselves. */
export const auditEntryOf = (
	{ method, routeOptions, params, ip, headers, id }: FastifyRequest,
	{ projectIds, userId, actor }: Deed,
	statusCode: number,
) => ({
	projectIds,
	userId,
	actor,
	action: `${method} ${routeOptions.url}`.replaceAll(/:(\w+)/g, '{$1}'),
	target: params ?? {},
	statusCode,
	ip,
	userAgent: headers['user-agent']?.slice(0, 300) ?? null,
	requestId: id,
})

const Entry = Component('AuditEntry', {
	id: Id,
	actor: Type.Object({
		type: Type.Enum(['user', 'key']),
		userId: Nullable(Id),
		name: Type.String({ description: "The user's address at that time, or the masked key" }),
	}),
	action: Type.String({ description: 'Method and path, such as POST /templates' }),
	target: Type.Record(Type.String(), Type.String(), { description: 'The ids in the path' }),
	status: Type.Integer(),
	ip: Type.String(),
	userAgent: Nullable(Type.String()),
	requestId: Id,
	createdAt: Timestamp,
})
const Position = Type.Tuple([Type.String({ format: 'uuid' })])

export const audit: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/projects/:id/audit',
		{
			config: { auth: 'session' },
			schema: {
				tags: ['projects'],
				summary: 'List changes to a project, newest first',
				description:
					'Every request that changed something, by a user or by a key. Bodies are not kept. `total` is counted up to 10,000.',
				params: ProjectParams,
				querystring: Type.Object({
					userId: Type.Optional(about('Only changes by this user.', Id)),
					by: Type.Optional(
						Type.Enum(['user', 'key'], {
							description: 'Only changes by users, or by secret keys.',
						}),
					),
					from: Type.Optional(about('Only changes since then.', Timestamp)),
					to: Type.Optional(about('Only changes until then.', Timestamp)),
					cursor: Cursor,
					limit: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
				}),
				response: { 200: cursorPage(Entry) },
			},
		},
		async ({ project, query: { cursor, limit, ...filter } }) => {
			const size = Math.min(limit, 100)
			const [after] = cursor === undefined ? [] : decodeCursor(Position, cursor)
			const wanted = { ...filter, publicId: project.publicId }
			const [rows, total] = await Promise.all([
				listAudit(pool, wanted, { after: after ?? null, limit: size + 1 }),
				cursor === undefined ? countAudit(pool, wanted) : 0,
			])
			const data = rows.slice(0, size).map(view)
			const hasMore = rows.length > size
			return {
				data,
				...(hasMore ? { cursor: encodeCursor([data.at(-1)!.id]) } : {}),
				hasMore,
				total,
			}
		},
	)
}

const view = ({ userId, actor, ...entry }: AuditRecord) => ({
	...entry,
	actor: { type: userId === null ? ('key' as const) : ('user' as const), userId, name: actor },
})
