import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import {
	projectByPublicKey,
	projectsOfSecretKeys,
	type ProjectOfKey,
} from '../../db/projects/project-keys.ts'
import { isReading, type SessionAuth, type Visitor, visitorOf } from '../accounts/session-auth.ts'
import { ApiError } from '../errors.ts'
import { rolesOfRoutes } from './roles.ts'

export const authKinds = [
	'public key',
	'secret key',
	'secret key or session',
	'session',
	'signature',
	'none',
] as const
export type Auth = (typeof authKinds)[number]

declare module 'fastify' {
	interface FastifyContextConfig {
		/** The callers of the route. A route without it stops the process at startup. */
		auth?: Auth
		/** The route sends mail, so the project's owner must have verified their address. */
		sends?: true
		/** The route accepts changes while the project is disabled. */
		evenDisabled?: true
	}
	interface FastifyRequest {
		/** The request's project. Throws on a route without a project. */
		readonly project: ProjectOfKey
		/** Like `project`, but null if there is none. */
		caller: ProjectOfKey | null
		/** The logged-in user. Throws on a route without sessions, or if a key was used. */
		readonly user: Visitor['user']
		/** null: no session; the request carries a key or nothing. */
		visitor: Visitor | null
		/** The body was still arriving when the caller was identified. */
		arrivesLate: boolean
		/**
		 * Call it when the body has arrived. A caller decides how slowly it does, and may have lost their access
		 * meanwhile: then it throws.
		 */
		confirmAccess(): Promise<void>
	}
}

/** Every route declares its callers, and every caller is identified before the body is read. */
export function authenticate(
	app: FastifyInstance,
	services: SessionAuth,
	refuseFailed: (request: FastifyRequest) => void,
) {
	const keys = { pool: services.pool, projectOfSecretKey: projectsOfSecretKeys(services.pool) }
	app.decorateRequest('caller', null)
	app.decorateRequest('visitor', null)
	app.decorateRequest('arrivesLate', false)
	app.decorateRequest('confirmAccess', async function (this: FastifyRequest) {
		if (this.arrivesLate) await admit(this)
	})
	app.decorateRequest('user', {
		getter(this: FastifyRequest) {
			if (!this.visitor) throw new Error('A request without a session has no user')
			return this.visitor.user
		},
	})
	app.decorateRequest('project', {
		getter(this: FastifyRequest) {
			if (!this.caller) throw new Error('A route without a key has no project')
			return this.caller
		},
	})
	app.addHook('onRoute', ({ method, url, config }) => {
		const name = `${String(method)} ${url}`
		if (!config?.auth) throw new Error(`${name} does not say who may call it`)
		if (config.auth === 'session' && method !== 'HEAD' && !rolesOfRoutes[name])
			throw new Error(`${name} is missing in the table of roles`)
	})
	app.addHook('onRequest', admit)
	app.addHook('preParsing', (request, _reply, _payload, done) => {
		request.arrivesLate = request.raw.complete === false
		done()
	})
	app.addHook('preValidation', async (request) => request.confirmAccess())

	async function admit(request: FastifyRequest) {
		const auth = request.routeOptions.config.auth
		if (auth === undefined || auth === 'none' || auth === 'signature') return
		try {
			await identify(request, auth, services, keys)
		} catch (error) {
			if (error instanceof ApiError && error.status === 401) refuseFailed(request)
			throw error
		}
		if (request.caller) refuseByState(request, request.caller, services)
	}
}

/** If both are accepted, a key takes precedence over a session. */
async function identify(request: FastifyRequest, auth: Auth, services: SessionAuth, keys: Keys) {
	const { authorization } = request.headers
	const takesSession =
		auth === 'session' || (auth === 'secret key or session' && authorization === undefined)
	if (takesSession) {
		const visitor = await visitorOf(request, services)
		if (visitor) {
			request.visitor = visitor
			request.caller = visitor.project
			return
		}
	}
	if (auth === 'session') throw authorization === undefined ? noSession() : keyOnSessionRoute()
	if (authorization === undefined) throw missingKey(auth)
	request.caller = await projectOfKey(authorization, auth, keys)
}

interface Keys {
	pool: Pool
	projectOfSecretKey: ReturnType<typeof projectsOfSecretKeys>
}

export const keyOf = (authorization: string) => /^Bearer +(\S+)$/i.exec(authorization)?.[1]

async function projectOfKey(authorization: string, auth: Auth, keys: Keys) {
	const key = keyOf(authorization)
	if (key === undefined) throw malformedKey()
	const kind = key.startsWith('pk_') ? 'public' : key.startsWith('sk_') ? 'secret' : undefined
	if (kind === undefined) throw unknownKey()
	if ((kind === 'public') !== (auth === 'public key')) throw wrongKind(kind)
	const project =
		kind === 'public'
			? (await projectByPublicKey(keys.pool, { publicKey: key }))[0]
			: await keys.projectOfSecretKey(key)
	if (!project) throw unknownKey()
	return project
}

function refuseByState(
	{ method, routeOptions }: FastifyRequest,
	{ disabledReason, ownerVerified }: ProjectOfKey,
	{ isMailReal }: SessionAuth,
) {
	const { config, url } = routeOptions
	const isHarmless = isReading(method) && !url?.startsWith('/v1/')
	if (disabledReason !== null && !isHarmless && !config.evenDisabled)
		throw projectDisabled(disabledReason)
	if (config.sends && isMailReal && !ownerVerified) throw ownerUnverified()
}

const projectDisabled = (reason: string) =>
	new ApiError(403, 'PROJECT_DISABLED', 'This project is disabled', {
		details: { reason },
		suggestion:
			reason === 'PAYMENT_FAILED'
				? 'Pay the open invoice. POST /users/@me/projects/{id}/billing-portal opens the billing portal.'
				: 'Contact support. Data can still be read.',
	})
const ownerUnverified = () =>
	new ApiError(
		403,
		'EMAIL_VERIFICATION_REQUIRED',
		"The project's owner has not verified their email address",
		{
			suggestion:
				'Follow the link in our mail, or request a new one with POST /auth/request-verification.',
		},
	)

const invalidKey = (message: string, suggestion: string) =>
	new ApiError(401, 'INVALID_API_KEY', message, { suggestion })

const missingKey = (auth: Auth) =>
	invalidKey(
		'This request has no API key',
		`Send the header Authorization: Bearer <${auth === 'public key' ? 'pk' : 'sk'}_…>.`,
	)
const malformedKey = () =>
	invalidKey(
		'The Authorization header is malformed',
		'Send the header Authorization: Bearer <API key>.',
	)
const wrongKind = (kind: 'public' | 'secret') =>
	kind === 'public'
		? invalidKey(
				'This endpoint does not accept a public key',
				'Use the secret key (sk_…), from your server only.',
			)
		: invalidKey('This endpoint does not accept a secret key', 'Use the public key (pk_…).')
const unknownKey = () =>
	invalidKey(
		'This API key is not valid',
		'Check the key. Regenerating keys makes the old ones stop working.',
	)
const keyOnSessionRoute = () =>
	invalidKey('This endpoint does not accept an API key', 'Log in with POST /auth/login.')
const noSession = () =>
	new ApiError(401, 'UNAUTHORIZED', 'This endpoint needs a session', {
		suggestion: 'Log in with POST /auth/login.',
	})
