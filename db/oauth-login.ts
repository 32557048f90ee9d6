import type { Pool } from 'pg'
import { transaction } from './jobs.ts'
import type { oauthProviders } from './oauth-identity.ts'
import { openSession } from './session.ts'
import { statement } from './statement.ts'
import { accountByEmail, confirmAddress, createAccount, replacePassword } from './user.ts'

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

/**
 * A session for who comes from a provider: by their account there, or, the first time, by their
 * address. An account that somebody made here with that address without showing that it is theirs
 * loses its password and its sessions. null: they have no account, and may not make one.
 */
export const logInFrom = (
	pool: Pool,
	{ provider, subject, email }: OAuthAccount,
	{ maySignUp, seconds }: { maySignUp: boolean; seconds: number },
) =>
	transaction(pool, async (db) => {
		const [linked] = await userOfIdentity(db, [provider, subject])
		if (linked) return (await openSession(db, [linked.userId, seconds]))[0]!.id
		const [known] = await accountByEmail(db, [email])
		if (!known && !maySignUp) return null
		const [made] = known ? [] : await createAccount(db, [email, null, true])
		// Made by another request meanwhile.
		const account = known ?? made ?? (await accountByEmail(db, [email]))[0]!
		if (known && !known.emailVerified) {
			await confirmAddress(db, known.id)
			await replacePassword(db, [known.id, null])
		}
		await linkIdentity(db, [provider, subject, account.id])
		return (await openSession(db, [account.id, seconds]))[0]!.id
	})
