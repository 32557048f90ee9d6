import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { countAudience } from '../../db/campaigns/campaign-audience.ts'
import { audienceTypes } from '../../db/campaigns/campaign.ts'
import { findSegment } from '../../db/segments/segment-records.ts'
import { mailTypes } from '../../db/templates/template.ts'
import { scanWithin } from '../../db/timed-reading.ts'
import { checkCondition, ConditionTree } from '../conditions/conditions.ts'
import { invalid } from '../errors.ts'
import { about, Body, Component, Id, Nullable } from '../schemas.ts'
import { refuseReferences } from '../segments/segment-conditions.ts'
import { existing as existingSegment } from '../segments/segments.ts'
import { missingIn } from './campaign-content.ts'

const mostMs = 5000

const Audience = Component('CampaignAudience', {
	count: Nullable(
		Type.Integer({
			description: 'How many contacts would get it now. null: counting takes too long.',
		}),
	),
	isCounted: Type.Boolean(),
})

export const campaignAudience: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (
	app,
	{ pool },
) => {
	app.post(
		'/campaigns/audience',
		{
			config: { auth: 'secret key or session', errors: [404] },
			schema: {
				tags: ['campaigns'],
				summary: 'Count an audience',
				description:
					'How many contacts a campaign with this audience would reach. Stores nothing. Suppressed addresses do not count, nor unsubscribed contacts unless the type is TRANSACTIONAL. Counting ends after 5 seconds; then `count` is null, and `isCounted` is false.',
				body: Body(
					{ audienceType: 'ALL' },
					{
						audienceType: about(
							'ALL: every contact that may get it. SEGMENT: the members of a segment. FILTERED: contacts that match a condition.',
							Type.Enum([...audienceTypes]),
						),
						type: Type.Enum([...mailTypes], {
							default: 'MARKETING',
							description: 'TRANSACTIONAL also counts contacts who have not subscribed.',
						}),
						segmentId: Type.Optional(
							about('The segment. Required when audienceType is SEGMENT.', Nullable(Id)),
						),
						audienceCondition: Type.Optional(
							about(
								'The condition. Required when audienceType is FILTERED.',
								Nullable(ConditionTree),
							),
						),
					},
				),
				response: { 200: Audience },
			},
		},
		async ({ project, body }) => {
			const { type, audienceType, segmentId = null } = body
			const missing = missingIn({ ...body, template: true })
			if (missing.length > 0) throw invalid(...missing)
			if (audienceType === 'SEGMENT')
				existingSegment(
					await findSegment(pool, { projectId: project.id, segmentId: segmentId! }),
					segmentId!,
				)
			const condition =
				(body.audienceCondition ?? null) === null
					? null
					: checkCondition(body.audienceCondition, 'audienceCondition')
			const audienceCondition = audienceType === 'FILTERED' ? condition : null
			if (audienceCondition) await refuseReferences(pool, project.id, audienceCondition)
			const audience = { type, audienceType, segmentId, audienceCondition }
			const count = await scanWithin(pool, project.id, mostMs, (db) =>
				countAudience(db, project.id, audience),
			)
			return { count, isCounted: count !== null }
		},
	)
}
