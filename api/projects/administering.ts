import type { FastifyRequest } from 'fastify'
import type { Pool, PoolClient } from 'pg'
import { lockAdministrator } from '../../db/accounts/session.ts'
import { ofLiving } from '../../db/projects/project-removal.ts'
import { transaction } from '../../db/transaction.ts'
import { ApiError } from '../errors.ts'

/**
 * A change of keys or members, in a transaction: it must not outlive the access of whoever makes it. A
 * session that ends, or a member who is removed, between the look at the cookie and the change is refused.
 */
export const administering = <T>(
	pool: Pool,
	{ user, project }: FastifyRequest,
	change: (db: PoolClient, projectId: string) => Promise<T>,
) =>
	transaction(pool, async (db) => {
		const ids = [user.sessionId, project.publicId]
		const [locked] = await ofLiving(() => lockAdministrator(db, ids))
		if (!locked) throw accessEnded()
		return change(db, locked.id)
	})

const accessEnded = () =>
	new ApiError(403, 'PROJECT_ACCESS_DENIED', 'Your access to this project has just ended', {
		suggestion: 'Log in again, or ask an administrator of the project.',
	})
