import { domainToASCII } from 'node:url'
import type { SmtpServer } from './smtp-session.ts'

/**
 * Besides `pool`, the URL may set `requireTLS=true`, `ignoreTLS=true`, `tls.rejectUnauthorized=false` and
 * `name` (our name at EHLO), as nodemailer calls them.
 */
export function readSmtpUrl(text: string): Omit<SmtpServer, 'timeouts'> & { pool: number } {
	const url = URL.parse(text)
	if (!url || !/^smtps?:$/.test(url.protocol) || !url.hostname)
		throw new Error('SMTP_URL must look like smtp://user:password@host:587?pool=20')
	const known = new Set(['pool', 'requireTLS', 'ignoreTLS', 'tls.rejectUnauthorized', 'name'])
	for (const name of url.searchParams.keys())
		if (!known.has(name)) throw new Error(`SMTP_URL: unknown parameter ${name}`)
	const pool = Number(url.searchParams.get('pool') ?? 20)
	if (!Number.isInteger(pool) || pool < 1 || pool > 1000)
		throw new Error('SMTP_URL: pool must be a number of connections from 1 to 1000')
	const is = (name: string, value: string) => url.searchParams.get(name) === value
	return {
		pool,
		connection: {
			host: url.hostname.replace(/^\[|\]$/g, ''),
			port: url.port || undefined,
			secure: url.protocol === 'smtps:',
			requireTLS: is('requireTLS', 'true'),
			ignoreTLS: is('ignoreTLS', 'true'),
			tls: { rejectUnauthorized: !is('tls.rejectUnauthorized', 'false') },
			name: url.searchParams.get('name') ?? undefined,
		},
		auth: url.username ? { user: decoded(url.username), pass: decoded(url.password) } : null,
	}
}

/**
 * Not every server supports SMTPUTF8. An international domain has an ASCII form that all servers accept.
 */
export function toAscii(address: string) {
	if (/^[!-~]+$/.test(address)) return address
	const at = address.lastIndexOf('@') + 1
	return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at))
}

function decoded(part: string) {
	try {
		return decodeURIComponent(part)
	} catch {
		throw new Error('SMTP_URL: % in user or password must be written as %25')
	}
}
