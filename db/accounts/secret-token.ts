import { createHash, randomBytes } from 'node:crypto'

/** For a link in a mail, or a session's cookie. Only its digest is stored. */
export const newSecretToken = () => randomBytes(32).toString('base64url')

export const tokenDigest = (token: string) => createHash('sha256').update(token).digest()
