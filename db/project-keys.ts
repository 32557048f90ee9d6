import { createHash, randomBytes } from 'node:crypto'

/** The only form in which a secret key is stored or looked up. */
export const keyDigest = (key: string) => createHash('sha256').update(key).digest()

/** Two fresh keys and what the project's row remembers of them. */
export function newKeys() {
	const publicKey = `pk_${randomBytes(32).toString('hex')}`
	const secretKey = `sk_${randomBytes(32).toString('hex')}`
	return {
		secretKey,
		columns: {
			publicKey,
			secretKeyDigest: keyDigest(secretKey),
			secretKeyEnding: secretKey.slice(-4),
		},
	}
}
