import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { computeSegment } from '../../db/segments/segment-compute.ts'
import { findSegment, lockSegment, recount } from '../../db/segments/segment-records.ts'
import { transaction } from '../../db/transaction.ts'
import { tooSlow } from '../conditions/conditions.ts'
import { ApiError } from '../errors.ts'
import { PathId } from '../schemas.ts'
import { countInTurn, isTooSlow } from '../../db/timed-reading.ts'
import { existing } from './segments.ts'

const tags = ['segments']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('segment') })

export const segmentComputing: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (
	app,
	{ pool },
) => {
	app.post(
		'/segments/:id/compute',
		{
			config: { auth, errors: [400] },
			schema: {
				tags,
				summary: 'Compute the members of a tracked segment',
				description:
					'Stores the current members and emits entry and exit events. This also happens every 5 minutes.',
				params: Params,
				response: {
					200: Type.Object({
						added: Type.Integer(),
						removed: Type.Integer(),
						total: Type.Integer(),
					}),
				},
			},
		},
		async ({ project, params }) => {
			const segment = existing(
				await findSegment(pool, { projectId: project.id, segmentId: params.id }),
				params.id,
			)
			if (segment.type === 'STATIC') return { added: 0, removed: 0, total: segment.memberCount }
			if (!segment.trackMembership) throw untracked()
			const computed = await computeSegment(pool, project.id, segment.id).catch(
				(error: unknown) => {
					throw isTooSlow(error)
						? tooSlow('Use fewer filters. A worker tries again, and takes up to five minutes.')
						: error
				},
			)
			if (computed) return computed
			existing(await findSegment(pool, { projectId: project.id, segmentId: params.id }), params.id)
			throw untracked()
		},
	)

	app.post(
		'/segments/:id/refresh',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Count the members of a segment again',
				description: 'Stores no membership and emits no events.',
				params: Params,
				response: { 200: Type.Object({ memberCount: Type.Integer() }) },
			},
		},
		({ project, params }) =>
			countInTurn(project.id, (limit) =>
				transaction(
					pool,
					async (db) => {
						const segment = existing(
							await lockSegment(db, { projectId: project.id, segmentId: params.id }),
							params.id,
						)
						return { memberCount: await recount(db, segment, segment.condition) }
					},
					limit,
				),
			),
	)
}

const untracked = () =>
	new ApiError(400, 'BAD_REQUEST', 'This segment does not track its members', {
		suggestion: 'Set trackMembership with PATCH /segments/{id}.',
	})
