import type { FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import {
	type Role,
	sessionCaller,
	type SessionCaller,
	type SessionUser,
} from '../../db/accounts/session.ts'
import { tokenDigest } from '../../db/accounts/secret-token.ts'
import type { ProjectOfKey } from '../../db/projects/project-keys.ts'
import { ApiError, notFound } from '../errors.ts'
import { includes, rolesOfRoutes } from '../requests/roles.ts'
import type { SessionCookie } from './cookies.ts'

export interface SessionAuth {
	pool: Pool
	cookie: SessionCookie
	ownOrigin: string
	/** Whether mail leaves the machine. If so, an address belongs to a user only once it is verified. */
	isMailReal: boolean
}

export interface Visitor {
	user: SessionUser
	/** null on routes that concern only the user. */
	project: ProjectOfKey | null
	role: Role | null
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The route as the table of roles names it; Fastify answers HEAD by what it has for GET. */
const nameOf = ({ method, routeOptions }: FastifyRequest) =>
	`${method === 'HEAD' ? 'GET' : method} ${routeOptions.url}`

/**
 * The user of the session cookie, and the project: the one in the path, or the one in X-Project-Id.
 * undefined: there is no session. A session whose role or origin is not enough is refused.
 */
export async function visitorOf(
	request: FastifyRequest,
	{ pool, cookie, ownOrigin, isMailReal }: SessionAuth,
): Promise<Visitor | undefined> {
	const token = cookie.read(request)
	if (token === undefined) return undefined
	const isOwnPath = request.routeOptions.config.auth === 'session'
	const needed = rolesOfRoutes[nameOf(request)] ?? 'MEMBER'
	const projectId = needed === 'USER' ? null : isOwnPath ? pathId(request) : headerId(request)
	const known = typeof projectId === 'string' && uuid.test(projectId) ? projectId : null
	const [row] = await sessionCaller(pool, { digest: tokenDigest(token), publicId: known })
	if (!row) return undefined
	if (!isReading(request.method) && request.headers.origin !== ownOrigin)
		throw foreignOrigin(ownOrigin)
	const user = userOf(row)
	if (needed === 'USER') return { user, project: null, role: null }
	if (projectId === undefined) throw noProject()
	if (row.role === null) throw isOwnPath ? notFound('project', projectId) : noAccess(projectId)
	if (!includes(row.role, needed)) throw roleTooLow(row.role, needed)
	if (isMailReal && row.role !== 'OWNER' && !user.emailVerified) throw unverified()
	return { user, project: row, role: row.role }
}

export const isReading = (method: string) => method === 'GET' || method === 'HEAD'

const pathId = ({ params }: FastifyRequest) => (params as { id: string }).id

function headerId({ headers }: FastifyRequest) {
	const id = headers['x-project-id']
	return typeof id === 'string' && id !== '' ? id : undefined
}

const userOf = (row: SessionCaller): SessionUser => ({
	sessionId: row.user_sessionId,
	id: row.user_id,
	email: row.user_email,
	emailVerified: row.user_emailVerified,
})

const foreignOrigin = (ownOrigin: string) =>
	new ApiError(403, 'FORBIDDEN', 'A session can change data only from our own pages', {
		suggestion: `Outside a browser, send the header Origin: ${ownOrigin}`,
	})
const noProject = () =>
	new ApiError(400, 'BAD_REQUEST', 'This request does not name a project', {
		suggestion: 'Send the header X-Project-Id with the id of the project.',
	})
const noAccess = (id: unknown) =>
	new ApiError(403, 'PROJECT_ACCESS_DENIED', 'You are not a member of this project', {
		details: { projectId: id },
		suggestion: 'GET /users/@me/projects lists your projects.',
	})
const roleTooLow = (role: Role, needed: Role) =>
	new ApiError(403, 'FORBIDDEN', `This requires the role ${needed}; yours is ${role}`, {
		details: { role, needed },
		suggestion: `Ask ${needed === 'OWNER' ? 'the owner' : 'an administrator'} of the project.`,
	})
/** Anyone can sign up with an address, so projects shared with it wait for its verification. */
export const unverified = () =>
	new ApiError(403, 'EMAIL_VERIFICATION_REQUIRED', 'Your email address is not verified yet', {
		suggestion:
			'Follow the link in our mail, or request a new one with POST /auth/request-verification.',
	})
