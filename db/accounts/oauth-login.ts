import type { Pool } from 'pg'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import { accountOfReader, lockAccount } from './account-proof.ts'
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
	taskQueue: string
	isMailReal: boolean
}

/**
 * A session for who comes from a provider: by their account there, or, the first time, by their
 * address. An account that somebody made here with that address without showing that it is theirs
 * loses its password, its sessions and its projects: wake the relay afterwards. null: they have no
 * account, and may not make one.
 */
export const logInFrom = (
	pool: Pool,
	{ provider, subject, email }: OAuthAccount,
	{ maySignUp, seconds, ...proof }: LogIn,
) =>
	transaction(pool, async (db) => {
		const [linked] = await userOfIdentity(db, [provider, subject])
		if (linked) return (await openSession(db, [linked.userId, seconds]))[0]!.id
		if (!maySignUp && !(await lockAccount(db, [email]))[0]) return null
		const userId = await accountOfReader(db, email, { hash: null, ...proof })
		await linkIdentity(db, [provider, subject, userId])
		return (await openSession(db, [userId, seconds]))[0]!.id
	})
