import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { findSegment } from '../../db/segments/segment-records.ts'
import { segmentUses } from '../../db/segments/segment-usage.ts'
import { Component, PathId, Reference } from '../schemas.ts'
import { existing } from './segments.ts'

const Uses = Type.Array(Reference)
const Usage = Component('SegmentUsage', { segments: Uses, campaigns: Uses, workflows: Uses })

export const segmentUsage: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/segments/:id/usage',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags: ['segments'],
				summary: 'Get the uses of a segment',
				description:
					'Other segments, campaigns that have not ended, and workflows that use it or its events. While there are any, it can’t be deleted.',
				params: Type.Object({ id: PathId('segment') }),
				response: { 200: Usage },
			},
		},
		async ({ project, params: { id } }) => {
			const key = { projectId: project.id, segmentId: id }
			return segmentUses(pool, project.id, existing(await findSegment(pool, key), id))
		},
	)
}
