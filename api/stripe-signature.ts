import { createHmac, timingSafeEqual } from 'node:crypto'
import { ApiError } from './errors.ts'

const toleranceSeconds = 5 * 60

/**
 * Checks the header Stripe-Signature (`t=…,v1=…`) over the raw body. While a secret is rolled there are
 * several v1. What is older than five minutes may have been recorded and sent again.
 */
export function verifyStripe(secret: string, header: string | string[] | undefined, body: Buffer) {
	const parts = String(header ?? '')
		.split(',')
		.map((part) => part.trim().split('=', 2) as [string, string?])
	const valuesOf = (wanted: string) =>
		parts.flatMap(([name, value]) => (name === wanted && value ? [value] : []))
	const [timestamp, ...others] = valuesOf('t')
	const signatures = valuesOf('v1')
	const isSigned = timestamp && others.length === 0 && /^\d{1,12}$/.test(timestamp)
	if (!isSigned || signatures.length === 0) throw refused('This request is not signed')
	if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
		throw refused('The signature is too old, or from the future')

	const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
	const matches = signatures.some((text) => {
		const given = Buffer.from(text, 'hex')
		return given.length === expected.length && timingSafeEqual(given, expected)
	})
	if (!matches) throw refused('The signature does not match')
}

const refused = (message: string) =>
	new ApiError(401, 'UNAUTHORIZED', message, {
		suggestion: 'Sign with the secret of this endpoint (whsec_…); check the clock.',
	})
