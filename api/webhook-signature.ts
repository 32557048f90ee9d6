import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from './errors.ts'

const toleranceSeconds = 5 * 60

/**
 * Checks a webhook's signature over its raw body, in the form that Svix made and Standard Webhooks
 * wrote down, and answers with the message's id. While a secret is rotated the header holds several
 * signatures. A message that is older than five minutes may have been recorded and sent again.
 */
export function verifyWebhook(secret: string, headers: IncomingHttpHeaders, body: Buffer): string {
	const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => {
		const value = headers[`svix-${name}`] ?? headers[`webhook-${name}`]
		return typeof value === 'string' ? value : ''
	}) as [string, string, string]
	if (!/^[\x21-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp) || signatures === '')
		throw refused('This request is not signed')
	if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
		throw refused('The signature is too old, or from the future')

	const expected = createHmac('sha256', signingKey(secret))
		.update(`${id}.${timestamp}.`)
		.update(body)
		.digest()
	const isSigned = signatures.split(' ').some((signature) => {
		const [version, text = ''] = signature.split(',', 2)
		const given = Buffer.from(text, 'base64')
		return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
	})
	if (!isSigned) throw refused('The signature does not match')
	return id
}

const signingKey = (secret: string) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

const refused = (message: string) =>
	new ApiError(401, 'UNAUTHORIZED', message, {
		suggestion: 'Sign with the secret that this endpoint was set up with; check the clock.',
	})
