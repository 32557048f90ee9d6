import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { Job } from '../../db/jobs/job.ts'
import { ImportCounts, importCounts, ImportMembers, importMembers } from '../jobs/jobs.ts'
import { Component, Cursor, cursorPage, decodeCursor, encodeCursor } from '../schemas.ts'
import { Undo, undosOf } from './undos.ts'

const ListedImport = Component('ListedImport', {
	...ImportMembers,
	result: Type.Union([ImportCounts, Type.Null()], {
		description: 'Null until the job has ended.',
	}),
	undo: Undo,
})
const Position = Type.Tuple([Type.String({ format: 'uuid' })])
const most = 100

export const importList: FastifyPluginAsyncTypebox = async (app) => {
	app.get(
		'/contacts/import',
		{
			config: { auth: 'secret key or session', errors: [400] },
			schema: {
				tags: ['contacts'],
				summary: 'List imports, newest first',
				description:
					'Each with its progress, its counts once it has ended, and the job that undoes it. `GET /contacts/import/{jobId}` has the errors of its rows.',
				querystring: Type.Object({
					cursor: Cursor,
					limit: Type.Integer({ minimum: 1, default: 20, description: `At most ${most}` }),
				}),
				response: { 200: cursorPage(ListedImport) },
			},
		},
		async ({ em, project, query: { cursor, limit } }) => {
			const size = Math.min(limit, most)
			const [before] = cursor === undefined ? [] : decodeCursor(Position, cursor)
			// jobs_imports is in this order.
			const ofProject = { projectId: project.id, type: 'import' as const }
			const [found, total] = await Promise.all([
				em.find(
					Job,
					{ ...ofProject, ...(before !== undefined && { id: { $lt: before } }) },
					{ orderBy: { id: 'desc' }, limit: size + 1, disableIdentityMap: true },
				),
				before === undefined ? em.count(Job, ofProject) : 0,
			])
			const shown = found.slice(0, size)
			const undos = await undosOf(
				em,
				project.id,
				shown.map(({ id }) => id),
			)
			const hasMore = found.length > size
			return {
				data: shown.map((job) => ({
					...importMembers(job),
					result: job.finishedAt && job.total !== null ? importCounts(job) : null,
					undo: undos.get(job.id) ?? null,
				})),
				...(hasMore ? { cursor: encodeCursor([shown.at(-1)!.id]) } : {}),
				hasMore,
				total,
			}
		},
	)
}
