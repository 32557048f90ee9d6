import { createHmac } from 'node:crypto'
import { isOfNow, isSame, isTimestamp, refusals } from '../requests/signed-body.ts'

/**
 * Checks the header Stripe-Signature (`t=…,v1=…`) over the raw body. While a secret is rolled there are
 * several v1.
 */
export function verifyStripe(secret: string, header: string | string[] | undefined, body: Buffer) {
	const parts = String(header ?? '')
		.split(',')
		.map((part) => part.trim().split('=', 2) as [string, string?])
	const valuesOf = (wanted: string) =>
		parts.flatMap(([name, value]) => (name === wanted && value ? [value] : []))
	const [timestamp, ...others] = valuesOf('t')
	const signatures = valuesOf('v1')
	const isSigned = timestamp && others.length === 0 && isTimestamp(timestamp)
	if (!isSigned || signatures.length === 0) throw unsigned()
	if (!isOfNow(timestamp)) throw untimely()

	const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
	if (!signatures.some((text) => isSame(expected, Buffer.from(text, 'hex')))) throw forged()
}

const { unsigned, untimely, forged } = refusals(
	'Sign with the secret of this endpoint (whsec_…); check the clock.',
)
