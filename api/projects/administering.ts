import type { FastifyRequest } from 'fastify'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { lockAdministrator, lockMember } from '../../db/accounts/session.ts'
import { lockBillingAccount } from '../../db/billing/usage-reporting.ts'
import { keyDigest, lockProjectOfKey } from '../../db/projects/project-keys.ts'
import { findLiving, ofLiving } from '../../db/projects/project-removal.ts'
import { transactional } from '../../db/transaction.ts'
import { ApiError } from '../errors.ts'
import { keyOf } from '../requests/auth.ts'

type Change<T> = (em: EntityManager, db: PoolClient, projectId: string) => Promise<T>

/**
 * Changes a project, or its keys, members or webhook endpoints, in a transaction that checks the caller's access again.
 * It is refused if the session has ended, the member was removed, or the secret key was replaced, since the request was
 * authenticated: a caller decides how slowly the body arrives.
 */
export const administering = <T>(request: FastifyRequest, change: Change<T>) =>
	transactional(request.em, async (em, db) =>
		change(em, db, await lockProject(request, db, lockAdministrator)),
	)

/** The same for changes that every member may make. */
export const withAccess = <T>(request: FastifyRequest, change: Change<T>) =>
	transactional(request.em, async (em, db) =>
		change(em, db, await lockProject(request, db, lockMember)),
	)

/** The same for changes that need the billing account, which is locked before the project everywhere. */
export async function administeringAccount<T>(request: FastifyRequest, change: Change<T>) {
	const done = await ofLiving(() =>
		transactional(request.em, async (em, db) => {
			const [living] = await findLiving(db, { publicId: request.project.publicId })
			if (living) await lockBillingAccount(db, { projectId: living.id })
			const projectId = await lockProject(request, db, lockAdministrator)
			// Otherwise a reset has moved the account to another row.
			return living?.id === projectId ? { value: await change(em, db, projectId) } : undefined
		}),
	)
	if (!done) throw accessEnded()
	return done.value
}

/** The same check within a transaction that has to lock other rows first. Returns the id of the project's data. */
export const lockAdministered = (request: FastifyRequest, db: PoolClient) =>
	lockProject(request, db, lockAdministrator)

async function lockProject(
	{ visitor, project, headers }: FastifyRequest,
	db: PoolClient,
	lockUser: typeof lockMember,
) {
	const locked = await ofLiving(async () => {
		const [found] = visitor
			? await lockUser(db, { sessionId: visitor.user.sessionId, publicId: project.publicId })
			: await lockProjectOfKey(db, { digest: keyDigest(keyOf(headers.authorization!)!) })
		return found
	})
	if (!locked) throw accessEnded()
	return locked.id
}

const accessEnded = () =>
	new ApiError(403, 'PROJECT_ACCESS_DENIED', 'Your access to this project has just ended', {
		suggestion: 'Log in again, use a new key, or ask an administrator of the project.',
	})
