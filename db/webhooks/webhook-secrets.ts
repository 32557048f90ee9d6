import { randomBytes } from 'node:crypto'
import { seal, unseal } from '../domains/seal.ts'

const prefix = 'whsec_'

/** In the form of Standard Webhooks: `whsec_` and base64. */
export const newEndpointSecret = () => prefix + randomBytes(24).toString('base64')

export const sealedSecret = (secret: string, key: string) => seal(Buffer.from(secret), key)

export const openedSecret = (sealed: Buffer, key: string) => unseal(sealed, key).toString()
