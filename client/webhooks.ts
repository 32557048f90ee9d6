import type { WebhookEvent } from './api.ts'
import { TempostError } from './errors.ts'

export type WebhookHeaders =
	| { get(name: string): string | null }
	| Record<string, string | string[] | undefined>

/** How far a sender's clock and ours may differ. An older request may be a recorded one. */
const toleranceSeconds = 300

export const webhooks = {
	/**
	 * The event of a request that really comes from the service (Standard Webhooks). Pass the body as it arrived,
	 * before it is parsed. Give several secrets while one is being replaced.
	 */
	async verify(
		headers: WebhookHeaders,
		body: string | Uint8Array<ArrayBuffer> | ArrayBuffer,
		secret: string | string[],
	): Promise<WebhookEvent> {
		const id = valueOf(headers, 'webhook-id')
		const timestamp = valueOf(headers, 'webhook-timestamp')
		const signatures = valueOf(headers, 'webhook-signature').split(' ')
		checkTime(Number(timestamp))
		const text = textOf(body)
		const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
		for (const one of [secret].flat()) {
			const key = await keyOf(one)
			for (const signature of signatures)
				if (await isSignedBy(key, signature, signed)) return JSON.parse(text) as WebhookEvent
		}
		throw invalid(
			'No signature matches',
			'Check the secret, and pass the body exactly as it arrived.',
		)
	},
}

function valueOf(headers: WebhookHeaders, name: string) {
	const value =
		typeof headers['get'] === 'function'
			? headers['get'](name)
			: Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
	if (typeof value === 'string' && value !== '') return value
	throw invalid(`The header ${name} is missing`, 'Pass the headers of the request.')
}

function textOf(body: unknown) {
	if (typeof body === 'string') return body
	if (body instanceof ArrayBuffer || body instanceof Uint8Array)
		return new TextDecoder().decode(body)
	throw invalid('The body has been parsed', 'Pass it as it arrived: its text, or its bytes.')
}

function checkTime(seconds: number) {
	const age = Date.now() / 1000 - seconds
	if (Math.abs(age) <= toleranceSeconds) return
	throw invalid(
		`The request is ${age > 0 ? 'too old' : 'from the future'}, or its time is missing`,
		'Check the clock of this machine.',
	)
}

function keyOf(secret: string) {
	const bytes = bytesOfSecret(secret)
	if (!bytes) throw invalid('The secret is not valid', 'It begins with whsec_, followed by base64.')
	return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Undefined: it is not valid. It may come from a variable that is not set. */
export function bytesOfSecret(secret: string | undefined) {
	const bytes = bytesOf(secret?.replace(/^whsec_/, '') ?? '')
	return bytes?.length ? bytes : undefined
}

/** WebCrypto compares in constant time. */
async function isSignedBy(
	key: Awaited<ReturnType<typeof keyOf>>,
	signature: string,
	signed: Uint8Array<ArrayBuffer>,
) {
	const [version, code = ''] = signature.split(',')
	const bytes = version === 'v1' ? bytesOf(code) : undefined
	return bytes !== undefined && crypto.subtle.verify('HMAC', key, bytes, signed)
}

function bytesOf(base64: string) {
	try {
		return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
	} catch {
		return undefined
	}
}

const invalid = (message: string, suggestion: string) =>
	new TempostError('INVALID_SIGNATURE', message, { suggestion })
