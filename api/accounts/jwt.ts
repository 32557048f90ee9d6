import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const header = encode({ alg: 'HS256', typ: 'JWT' })

/**
 * Tokens (RFC 7519) that we sign ourselves, each purpose with a key of its own. What a token says of
 * its algorithm is never asked: one whose header is not exactly ours is none of ours.
 */
export function createJwt<Claims extends object>(secret: string, purpose: string) {
	const key = Buffer.from(hkdfSync('sha256', secret, '', `tempost ${purpose}`, 32))
	const signatureOf = (text: string) => createHmac('sha256', key).update(text).digest()
	return {
		sign(claims: Claims, seconds: number) {
			const now = Math.floor(Date.now() / 1000)
			const text = `${header}.${encode({ ...claims, iat: now, exp: now + seconds })}`
			return `${text}.${signatureOf(text).toString('base64url')}`
		},
		/** undefined: not ours, changed, or expired. */
		verify(token: string): Claims | undefined {
			const [first, payload, signature, ...rest] = token.split('.')
			if (first !== header || !payload || !signature || rest.length > 0) return undefined
			const given = Buffer.from(signature, 'base64url')
			const wanted = signatureOf(`${header}.${payload}`)
			if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
			// Signed by us, so it is what `sign` was given.
			const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims & {
				exp: number
			}
			return claims.exp * 1000 > Date.now() ? claims : undefined
		},
	}
}
