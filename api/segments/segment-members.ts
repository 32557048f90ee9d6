import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import {
	addMembers,
	matchingMembers,
	removeMembers,
	storedMembers,
} from '../../db/segments/segment-members.ts'
import { findSegment, type SegmentRecord } from '../../db/segments/segment-records.ts'
import { slugOf } from '../../db/segments/segment-slug.ts'
import { scanWithin } from '../../db/timed-reading.ts'
import { tooSlow } from '../conditions/conditions.ts'
import { Contact } from '../contacts/contacts.ts'
import { ApiError, notFound } from '../errors.ts'
import { Body, Email, normalizeEmail, page, PathId } from '../schemas.ts'
import { existing } from './segments.ts'

const tags = ['segments']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('segment') })
const Emails = Type.Array(Email, {
	minItems: 1,
	maxItems: 500,
	description: 'At most 500 addresses.',
})
const tries = 5
/** For a page, which takes a look at every contact. */
const mostMs = 15_000

export const segmentMembers: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/segments/:id/contacts',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'List the members of a segment',
				description: 'For a dynamic segment, the contacts that match its condition now.',
				params: Params,
				querystring: Type.Object({
					page: Type.Integer({
						minimum: 1,
						maximum: 1_000_000_000,
						default: 1,
						description: 'The page to return. The first is 1.',
					}),
					pageSize: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
				}),
				response: { 200: page(Contact) },
			},
		},
		async ({ project, params, query }) => {
			const segment = existing(
				await findSegment(pool, { projectId: project.id, segmentId: params.id }),
				params.id,
			)
			const pageSize = Math.min(query.pageSize, 100)
			const offset = (query.page - 1) * pageSize
			const { data, total } =
				segment.type === 'DYNAMIC'
					? await matching(segment, pageSize, offset)
					: {
							data: await storedMembers(pool, {
								projectId: project.id,
								segmentId: segment.id,
								limit: pageSize,
								offset,
							}),
							total: segment.memberCount,
						}
			const totalPages = Math.ceil(total / pageSize)
			return { data, page: query.page, pageSize, total, totalPages }
		},
	)

	async function matching(segment: SegmentRecord, pageSize: number, offset: number) {
		const found = await scanWithin(pool, segment.projectId, mostMs, (db) =>
			matchingMembers(db, segment, pageSize, offset),
		)
		if (!found) throw tooSlow('Use fewer filters in the condition of this segment.')
		return found
	}

	app.post(
		'/segments/:id/members',
		{
			config: { auth, errors: [400] },
			schema: {
				tags,
				summary: 'Add contacts to a static segment',
				description:
					'Contacts that are already members are not counted. A DYNAMIC segment is refused.',
				params: Params,
				body: Type.Object(
					{
						emails: Emails,
						createMissing: Type.Boolean({
							default: false,
							description: 'Create contacts for unknown addresses.',
						}),
						subscribed: Type.Boolean({
							default: true,
							description: 'The subscription of created contacts',
						}),
					},
					{
						additionalProperties: false,
						examples: [{ emails: ['ann@example.org'], createMissing: true }],
					},
				),
				response: {
					200: Type.Object({
						added: Type.Integer(),
						created: Type.Integer(),
						notFound: Type.Array(Type.String(), {
							description: 'With the spelling of the request',
						}),
					}),
				},
			},
		},
		async ({ project, params, body }) => {
			const segment = await staticSegment(project.id, params.id)
			const given = new Map(body.emails.map((email) => [normalizeEmail(email), email]))
			const values = {
				projectId: project.id,
				segmentId: segment.id,
				emails: [...given.keys()],
				createsMissing: body.createMissing,
				subscribed: body.subscribed,
				...eventOf(segment, 'entry'),
			}
			const answer = { added: 0, created: 0, notFound: [] as string[] }
			for (let attempt = 1; ; attempt++) {
				const [did] = await addMembers(pool, values).catch((error: { constraint?: string }) => {
					throw error.constraint === 'segment_members_segment'
						? notFound('segment', params.id)
						: error
				})
				answer.added += did!.added
				answer.created += did!.created
				answer.notFound = did!.notFound.map((email) => given.get(email)!)
				if (!body.createMissing || did!.known === given.size || attempt === tries) return answer
			}
		},
	)

	app.delete(
		'/segments/:id/members',
		{
			config: { auth, errors: [400] },
			schema: {
				tags,
				summary: 'Remove contacts from a static segment',
				description: 'The contacts themselves stay. Addresses that are not members are ignored.',
				params: Params,
				body: Body({ emails: ['ann@example.org'] }, { emails: Emails }),
				response: { 200: Type.Object({ removed: Type.Integer() }) },
			},
		},
		async ({ project, params, body }) => {
			const segment = await staticSegment(project.id, params.id)
			const emails = [...new Set(body.emails.map(normalizeEmail))]
			const values = {
				projectId: project.id,
				segmentId: segment.id,
				emails,
				...eventOf(segment, 'exit'),
			}
			const [did] = await removeMembers(pool, values)
			return did!
		},
	)

	async function staticSegment(projectId: string, id: string) {
		const segment = existing(await findSegment(pool, { projectId, segmentId: id }), id)
		if (segment.type === 'STATIC') return segment
		throw new ApiError(
			400,
			'BAD_REQUEST',
			'The members of a dynamic segment are chosen by its condition',
			{
				suggestion: 'Create a segment of type STATIC to choose its members yourself.',
			},
		)
	}
}

/** The event's name and data; null if the segment emits no event. */
const eventOf = (segment: SegmentRecord, happening: 'entry' | 'exit') =>
	segment.trackMembership
		? {
				eventName: `segment.${slugOf(segment)}.${happening}`,
				eventData: { segmentId: segment.id, segmentName: segment.name },
			}
		: { eventName: null, eventData: null }
