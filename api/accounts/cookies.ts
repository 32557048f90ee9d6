import type { FastifyRequest } from 'fastify'

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

/** The cookie holds a random token; the database knows its digest, and whether the session has ended. */
export function sessionCookie({ publicUrl }: { publicUrl: string }) {
	const isSecure = publicUrl.startsWith('https:')
	const cookie = (value: string, seconds: number) =>
		setCookie({ name: 'session', value, path: '/', seconds, isSecure })
	return {
		issue: (token: string) => cookie(token, sessionSeconds),
		cleared: cookie('', 0),
		read: (request: Pick<FastifyRequest, 'headers'>) => readCookie(request, 'session'),
	}
}
