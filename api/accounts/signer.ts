import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Signs values that we hand out and take back, with a key for each purpose. */
export function createSigner<Value extends object>(secret: string, purpose: string) {
	const key = Buffer.from(hkdfSync('sha256', secret, '', `tempost ${purpose}`, 32))
	const signatureOf = (text: string) => createHmac('sha256', key).update(text).digest()
	return {
		sign(value: Value, seconds: number) {
			const signed = { value, endsAt: Date.now() + seconds * 1000 }
			const text = Buffer.from(JSON.stringify(signed)).toString('base64url')
			return `${text}.${signatureOf(text).toString('base64url')}`
		},
		/** undefined: not ours, changed, or expired. */
		verify(token: string): Value | undefined {
			const [text, signature, ...rest] = token.split('.')
			if (!text || !signature || rest.length > 0) return undefined
			const given = Buffer.from(signature, 'base64url')
			const wanted = signatureOf(text)
			if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
			// Signed by us, so it is what `sign` was given.
			const { value, endsAt } = JSON.parse(Buffer.from(text, 'base64url').toString()) as {
				value: Value
				endsAt: number
			}
			return endsAt > Date.now() ? value : undefined
		},
	}
}
