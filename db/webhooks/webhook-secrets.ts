import { seal, unseal } from '../domains/seal.ts'

/** Secrets of endpoints are stored sealed. */
export const sealedSecret = (secret: string, key: string) => seal(Buffer.from(secret), key)

export const openedSecret = (sealed: Buffer, key: string) => unseal(sealed, key).toString()
