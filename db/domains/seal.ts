import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** Encrypts private keys for the database; the secret is SESSION_SECRET. */
export function seal(plain: Buffer, secret: string): Buffer {
	const iv = randomBytes(ivBytes)
	const cipher = createCipheriv(algorithm, sealingKey(secret), iv)
	const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
	return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

export function unseal(sealed: Buffer, secret: string): Buffer {
	const decipher = createDecipheriv(algorithm, sealingKey(secret), sealed.subarray(0, ivBytes))
	decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
	return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()])
}

let derived: { secret: string; key: Buffer } | undefined

/** Derived once: a process has one secret. */
function sealingKey(secret: string) {
	if (derived?.secret !== secret) {
		const key = Buffer.from(hkdfSync('sha256', secret, '', 'tempost private keys at rest', 32))
		derived = { secret, key }
	}
	return derived.key
}
