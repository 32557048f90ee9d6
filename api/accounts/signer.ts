import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
const header = encoded({ alg: 'HS256', typ: 'JWT' })

/**
 * Signs values that we hand out and take back as JSON Web Tokens, with a key for each purpose. Only this one header is
 * taken back, so that no token chooses its algorithm.
 */
export function createSigner<Value extends object>(secret: string, purpose: string) {
	const key = Buffer.from(hkdfSync('sha256', secret, '', `tempost ${purpose}`, 32))
	const signatureOf = (claims: string) =>
		createHmac('sha256', key).update(`${header}.${claims}`).digest()
	return {
		sign(value: Value, seconds: number) {
			const claims = encoded({ ...value, exp: Math.floor(Date.now() / 1000) + seconds })
			return `${header}.${claims}.${signatureOf(claims).toString('base64url')}`
		},
		/** undefined: not ours, changed, or expired. */
		verify(token: string): Value | undefined {
			const [algorithm, claims, signature, ...rest] = token.split('.')
			if (algorithm !== header || !claims || !signature || rest.length > 0) return undefined
			const wanted = signatureOf(claims).toString('base64url')
			if (signature.length !== wanted.length) return undefined
			if (!timingSafeEqual(Buffer.from(signature), Buffer.from(wanted))) return undefined
			// Signed by us, so it is what `sign` was given.
			const { exp, ...value } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Value & {
				exp: number
			}
			return exp * 1000 > Date.now() ? (value as unknown as Value) : undefined
		},
	}
}
