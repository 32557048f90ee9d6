import { createHash, randomBytes } from 'node:crypto'

/** What a link in a mail carries; only its digest is kept. */
export const newSecretToken = () => randomBytes(32).toString('base64url')

export const tokenDigest = (token: string) => createHash('sha256').update(token).digest()
