import type { FastifyRequest } from 'fastify'
import { createJwt } from './jwt.ts'

interface Cookie {
	name: string
	value: string
	path: string
	seconds: number
	isSecure: boolean
}

/** Lax: it comes along when somebody follows a link to us, and with no other request from elsewhere. */
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

/** The cookie names a session; whether that still is one, the database says. */
export function sessionCookie(settings: { sessionSecret: string; publicUrl: string }) {
	const jwt = createJwt<{ sid: string }>(settings.sessionSecret, 'sessions')
	const isSecure = settings.publicUrl.startsWith('https:')
	const cookie = (value: string, seconds: number) =>
		setCookie({ name: 'session', value, path: '/', seconds, isSecure })
	return {
		issue: (sessionId: string) =>
			cookie(jwt.sign({ sid: sessionId }, sessionSeconds), sessionSeconds),
		cleared: cookie('', 0),
		read(request: Pick<FastifyRequest, 'headers'>) {
			const value = readCookie(request, 'session')
			return value === undefined ? undefined : jwt.verify(value)?.sid
		},
	}
}
