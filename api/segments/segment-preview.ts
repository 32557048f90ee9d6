import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { compileFor } from '../../db/conditions/condition-segments.ts'
import { countQueried, queryContacts } from '../../db/contacts/contact-query.ts'
import {
	checkCondition,
	conditionExample,
	ConditionTree,
	tooSlow,
} from '../conditions/conditions.ts'
import { Contact } from '../contacts/contacts.ts'
import { about, Body, Component, Nullable } from '../schemas.ts'
import { refuseReferences } from './segment-conditions.ts'

const sampleSize = 10

const Preview = Component('SegmentPreview', {
	count: Nullable(
		Type.Integer({ description: 'How many contacts match now. null: counting takes too long.' }),
	),
	isCounted: Type.Boolean(),
	sample: Type.Array(Contact, { description: 'The newest of them, at most ten.' }),
})

export const segmentPreview: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.post(
		'/segments/preview',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags: ['segments'],
				summary: 'Count the contacts that a condition finds',
				description:
					'Stores nothing. Counting ends after 5 seconds; then `count` is null, and `isCounted` is false.',
				body: Body(
					{ condition: conditionExample },
					{
						condition: about('The condition of a segment that does not exist yet.', ConditionTree),
					},
				),
				response: { 200: Preview },
			},
		},
		async ({ project, body }) => {
			const condition = checkCondition(body.condition, 'condition')
			await refuseReferences(pool, project.id, condition)
			const newest = {
				projectId: project.id,
				search: null,
				subscribed: null,
				sort: 'createdAt' as const,
				dir: 'desc' as const,
				after: null,
				limit: sampleSize,
				isMeant: await compileFor(pool, project.id, condition),
			}
			const [count, found] = await Promise.all([
				countQueried(pool, newest),
				queryContacts(pool, newest),
			])
			if (!found) throw tooSlow()
			return { count, isCounted: count !== null, sample: found.rows }
		},
	)
}
