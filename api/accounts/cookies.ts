import type { FastifyRequest } from 'fastify'
import { createSigner } from './signer.ts'

interface Cookie {
	name: string
	value: string
	path: string
	seconds: number
	isSecure: boolean
}

/** Lax: sent when a link to us is followed, and with no other request from another site. */
export const setCookie = ({ name, value, path, seconds, isSecure }: Cookie) =>
	`${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`

export function readCookie({ headers }: Pick<FastifyRequest, 'headers'>, name: string) {
	for (const pair of headers.cookie?.split(';') ?? []) {
		const [key, value] = pair.trim().split('=', 2)
		if (key === name) return value
	}
	return undefined
}

export const sessionSeconds = 7 * 24 * 60 * 60

export type SessionCookie = ReturnType<typeof sessionCookie>

/**
 * The cookie is a JSON Web Token that names the session by a random token. The database knows the digest of that, and
 * whether the session has ended.
 */
export function sessionCookie(settings: { publicUrl: string; sessionSecret: string }) {
	const isSecure = settings.publicUrl.startsWith('https:')
	const signer = createSigner<{ jti: string }>(settings.sessionSecret, 'session')
	const cookie = (value: string, seconds: number) =>
		setCookie({ name: 'session', value, path: '/', seconds, isSecure })
	return {
		issue: (token: string) => cookie(signer.sign({ jti: token }, sessionSeconds), sessionSeconds),
		cleared: cookie('', 0),
		/** The session's token; undefined: none that we have issued. */
		read(request: Pick<FastifyRequest, 'headers'>) {
			const given = readCookie(request, 'session')
			return given === undefined ? undefined : signer.verify(given)?.jti
		},
	}
}
