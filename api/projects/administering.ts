import type { FastifyRequest } from 'fastify'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { lockAdministrator } from '../../db/accounts/session.ts'
import { ofLiving } from '../../db/projects/project-removal.ts'
import { transactional } from '../../db/transaction.ts'
import { ApiError } from '../errors.ts'

/**
 * Changes keys or members in a transaction that checks the user's access again. It is refused if the
 * session has ended, or the member was removed, since the cookie was checked.
 */
export const administering = <T>(
	{ em, user, project }: FastifyRequest,
	change: (em: EntityManager, db: PoolClient, projectId: string) => Promise<T>,
) =>
	transactional(em, async (em, db) => {
		const ids = { sessionId: user.sessionId, publicId: project.publicId }
		const locked = await ofLiving(async () => {
			const [found] = await lockAdministrator(db, ids)
			return found
		})
		if (!locked) throw accessEnded()
		return change(em, db, locked.id)
	})

const accessEnded = () =>
	new ApiError(403, 'PROJECT_ACCESS_DENIED', 'Your access to this project has just ended', {
		suggestion: 'Log in again, or ask an administrator of the project.',
	})
