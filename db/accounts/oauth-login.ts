import type { PoolClient } from 'pg'
import { statement } from '../statement.ts'
import { accountOfReader, lockAccount, type Secured } from './account-proof.ts'
import type { oauthProviders } from './oauth-identity.ts'
import { openSession } from './session.ts'

export interface OAuthAccount {
	provider: (typeof oauthProviders)[number]
	subject: string
	/** Verified by the provider, and normalized. */
	email: string
}

/** $1 provider, $2 subject */
const userOfIdentity = statement<{ userId: string }>(
	'user-of-identity',
	`select user_id as "userId" from oauth_identities where provider = $1 and subject = $2`,
)

/** $1 provider, $2 subject, $3 user */
const linkIdentity = statement(
	'link-identity',
	`insert into oauth_identities (provider, subject, user_id) values ($1, $2, $3)
	on conflict do nothing`,
)

interface LogIn {
	maySignUp: boolean
	/** How long the session lasts. */
	seconds: number
}

/**
 * Opens a session for somebody who comes from a provider. The account is found by their account there or,
 * the first time, by their address. null: they have no account, and may not make one. In a transaction.
 */
export async function logInFrom(
	db: PoolClient,
	{ provider, subject, email }: OAuthAccount,
	{ maySignUp, seconds }: LogIn,
): Promise<{ sessionId: string; secured: Secured | null } | null> {
	const open = async (userId: string) => (await openSession(db, [userId, seconds]))[0]!.id
	const [linked] = await userOfIdentity(db, [provider, subject])
	if (linked) return { sessionId: await open(linked.userId), secured: null }
	if (!maySignUp && !(await lockAccount(db, [email]))[0]) return null
	const { userId, secured } = await accountOfReader(db, email, null)
	await linkIdentity(db, [provider, subject, userId])
	return { sessionId: await open(userId), secured }
}
