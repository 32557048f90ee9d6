import { seal, unseal } from '../domains/seal.ts'

/** Secrets of endpoints are stored sealed. */
export const sealedSecret = (secret: string, key: string) => seal(Buffer.from(secret), key)

/** null: it was sealed under another SESSION_SECRET. */
export function openedSecret(sealed: Buffer, key: string) {
	try {
		return unseal(sealed, key).toString()
	} catch {
		return null
	}
}
