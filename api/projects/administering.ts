import type { FastifyRequest } from 'fastify'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { lockAdministrator } from '../../db/accounts/session.ts'
import { keyDigest, lockProjectOfKey } from '../../db/projects/project-keys.ts'
import { ofLiving } from '../../db/projects/project-removal.ts'
import { transactional } from '../../db/transaction.ts'
import { ApiError } from '../errors.ts'
import { keyOf } from '../requests/auth.ts'

/**
 * Changes keys, members or webhook endpoints in a transaction that checks the caller's access again. It is
 * refused if the session has ended, the member was removed, or the secret key was replaced, since the
 * request was authenticated.
 */
export const administering = <T>(
	request: FastifyRequest,
	change: (em: EntityManager, db: PoolClient, projectId: string) => Promise<T>,
) =>
	transactional(request.em, async (em, db) => {
		const locked = await ofLiving(async () => {
			const [found] = await lockFor(request, db)
			return found
		})
		if (!locked) throw accessEnded()
		return change(em, db, locked.id)
	})

const lockFor = ({ visitor, project, headers }: FastifyRequest, db: PoolClient) =>
	visitor
		? lockAdministrator(db, { sessionId: visitor.user.sessionId, publicId: project.publicId })
		: lockProjectOfKey(db, { digest: keyDigest(keyOf(headers.authorization!)!) })

const accessEnded = () =>
	new ApiError(403, 'PROJECT_ACCESS_DENIED', 'Your access to this project has just ended', {
		suggestion: 'Log in again, use a new key, or ask an administrator of the project.',
	})
