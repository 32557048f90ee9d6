import type { EntityManager } from '@mikro-orm/postgresql'
import { Type } from '@fastify/type-provider-typebox'
import { Job, jobStates } from '../../db/jobs/job.ts'
import { Id } from '../schemas.ts'

export const Undo = Type.Union(
	[Type.Object({ jobId: Id, state: Type.Enum([...jobStates]) }), Type.Null()],
	{ description: 'The job that undoes, or has undone, this import.' },
)

/** The undos of these imports, by import. One that failed or was cancelled may be tried again, and is left out. */
export async function undosOf(em: EntityManager, projectId: string, importIds: string[]) {
	const undos = await em.find(
		Job,
		{
			projectId,
			importId: { $in: importIds },
			state: { $in: ['waiting', 'active', 'completed'] },
		},
		{ disableIdentityMap: true },
	)
	return new Map(undos.map(({ id, importId, state }) => [importId!, { jobId: id, state }]))
}
