import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import {
	keyDigest,
	projectByPublicKey,
	projectBySecretKeyDigest,
	type ProjectOfKey,
} from '../db/project-keys.ts'
import { ApiError } from './errors.ts'

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
		/** Who may call the route. One without it stops the process from starting. */
		auth?: Auth
	}
	interface FastifyRequest {
		/** The project whose key the request carries; on a route without a key, reading it throws. */
		readonly project: ProjectOfKey
		/** As `project`, but null where nobody is identified. */
		caller: ProjectOfKey | null
	}
}

/** Every route says who may call it, and whoever calls is identified before anything is read. */
export function authenticate(app: FastifyInstance, pool: Pool) {
	app.decorateRequest('caller', null)
	app.decorateRequest('project', {
		getter(this: FastifyRequest) {
			if (!this.caller) throw new Error('A route without a key has no project')
			return this.caller
		},
	})
	app.addHook('onRoute', ({ method, url, config }) => {
		if (!config?.auth) throw new Error(`${String(method)} ${url} does not say who may call it`)
	})
	app.addHook('onRequest', async (request) => {
		const auth = request.routeOptions.config.auth
		if (auth === undefined || auth === 'none' || auth === 'signature') return
		request.caller = await projectOf(request, auth, pool)
		refuseIfDisabled(request, request.caller)
	})
}

async function projectOf({ headers }: FastifyRequest, auth: Auth, pool: Pool) {
	const { authorization } = headers
	if (auth === 'session') throw authorization === undefined ? noSession() : keyOnSessionRoute()
	if (authorization === undefined) throw missingKey(auth)
	const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
	if (key === undefined) throw malformedKey()
	const kind = key.startsWith('pk_') ? 'public' : key.startsWith('sk_') ? 'secret' : undefined
	if (kind === undefined) throw unknownKey()
	if ((kind === 'public') !== (auth === 'public key')) throw wrongKind(kind)
	const [project] =
		kind === 'public'
			? await projectByPublicKey(pool, [key])
			: await projectBySecretKeyDigest(pool, [keyDigest(key)])
	if (!project) throw unknownKey()
	return project
}

const isReading = (method: string) => method === 'GET' || method === 'HEAD'

function refuseIfDisabled({ method, routeOptions }: FastifyRequest, project: ProjectOfKey) {
	if (project.disabledReason === null) return
	if (isReading(method) && !routeOptions.url?.startsWith('/v1/')) return
	throw new ApiError(403, 'PROJECT_DISABLED', 'This project is disabled', {
		details: { reason: project.disabledReason },
		suggestion:
			project.disabledReason === 'PAYMENT_FAILED'
				? 'Settle the open invoice in the dashboard.'
				: 'Contact support. Data can still be read.',
	})
}

const invalidKey = (message: string, suggestion: string) =>
	new ApiError(401, 'INVALID_API_KEY', message, { suggestion })

const missingKey = (auth: Auth) =>
	invalidKey(
		'This request carries no API key',
		`Send the header Authorization: Bearer <${auth === 'public key' ? 'pk' : 'sk'}_…>.`,
	)
const malformedKey = () =>
	invalidKey(
		'The Authorization header is malformed',
		'It must read Authorization: Bearer <API key>.',
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
		'Copy the key from the project; keys from before a regeneration no longer work.',
	)
const keyOnSessionRoute = () =>
	invalidKey('This endpoint does not accept an API key', 'Log in with POST /auth/login.')
const noSession = () =>
	new ApiError(401, 'UNAUTHORIZED', 'This endpoint needs a session', {
		suggestion: 'Log in with POST /auth/login.',
	})
