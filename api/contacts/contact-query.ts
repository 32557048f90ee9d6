import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { compileFor } from '../../db/conditions/condition-segments.ts'
import type { ContactList } from '../../db/contacts/contact-list.ts'
import { countQueried, queryContacts } from '../../db/contacts/contact-query.ts'
import { conditionExample, ConditionTree, tooSlow } from '../conditions/conditions.ts'
import { about, Cursor, cursorPage, Direction, Id } from '../schemas.ts'
import { filterCondition } from './contact-filter.ts'
import { envelopeOf, pageOf, positionOf } from './contact-list.ts'
import { Contact } from './contacts.ts'

// If a misspelt member were ignored, the answer would have more contacts.
const Query = Type.Object(
	{
		condition: Type.Optional(about('Only contacts that match this condition.', ConditionTree)),
		segmentId: Type.Optional(about('Only members of this segment.', Id)),
		search: Type.Optional(Type.String({ description: 'Part of the address' })),
		subscribed: Type.Optional(
			Type.Boolean({
				description: 'Only contacts who have subscribed, or only those who have not.',
			}),
		),
		sort: Type.Enum(['createdAt', 'email'], {
			default: 'createdAt',
			description: 'What the list is sorted by.',
		}),
		dir: Direction,
		cursor: Cursor,
		limit: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
		count: Type.Boolean({
			default: true,
			description:
				'false: `total` is not counted if that takes time, so that the first page comes sooner when there are many contacts.',
		}),
	},
	{
		additionalProperties: false,
		examples: [{ condition: conditionExample, subscribed: true, limit: 50 }],
	},
)

const Found = Type.Object({
	...cursorPage(Contact).properties,
	isCounted: Type.Boolean({
		description:
			'Whether `total` was counted: on the first page, unless you declined or that takes longer than 5 seconds.',
	}),
})

export const contactQuery: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.post(
		'/contacts/query',
		{
			config: { auth: 'secret key or session', errors: [400, 404] },
			schema: {
				tags: ['contacts'],
				summary: 'List the contacts that match a condition',
				description:
					'Takes the conditions of segments, and pages like GET /contacts. A page may have fewer contacts than its limit, although `hasMore` is true: then few contacts match, and the search continues with the next page.',
				body: Query,
				response: { 200: Found },
			},
		},
		async ({ project, body }) => {
			const { sort, dir, cursor, subscribed = null } = body
			const condition = await filterCondition(pool, project.id, body, 'condition')
			const list: ContactList = {
				projectId: project.id,
				search: body.search?.trim() || null,
				subscribed,
				sort,
				dir,
				after: cursor === undefined ? null : positionOf(cursor, sort),
				limit: Math.min(body.limit, 100) + 1,
			}
			const isFirst = list.after === null
			if (!condition) {
				const { rows, total, isCounted } = await pageOf(pool, list, body.count)
				return { ...envelopeOf(list, rows), total, isCounted }
			}
			const meant = { ...list, isMeant: await compileFor(pool, project.id, condition) }
			const [found, total] = await Promise.all([
				queryContacts(pool, meant),
				isFirst && body.count ? countQueried(pool, meant) : null,
			])
			if (!found) throw tooSlow()
			const isCounted = total !== null
			return {
				...envelopeOf(list, found.rows, found.searchedTo),
				total: total ?? 0,
				isCounted,
			}
		},
	)
}
