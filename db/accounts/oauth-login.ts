import type { PoolClient } from 'pg'
import { text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { accountOfReader, lockAccount, type Secured, type Securing } from './account-proof.ts'
import type { oauthProviders } from './oauth-identity.ts'
import { openSession } from './session.ts'

export interface OAuthAccount {
	provider: (typeof oauthProviders)[number]
	subject: string
	/** Verified by the provider, and normalised. */
	email: string
}

/**
 * Locks the user's row: a new password either comes first and has removed the identity, or comes later and ends the session
 * that is opened now.
 */
const userOfIdentity = statement('user-of-identity', {
	params: { provider: text, subject: text },
	row: { userId: uuid },
	text: `select i.user_id as "userId" from oauth_identities i join users u on u.id = i.user_id
	where i.provider = $provider and i.subject = $subject for share`,
})

const linkIdentity = statement('link-identity', {
	params: { provider: text, subject: text, userId: uuid },
	text: `insert into oauth_identities (provider, subject, user_id)
		values ($provider, $subject, $userId)
	on conflict do nothing`,
})

interface LogIn extends Securing {
	maySignUp: boolean
	/** The duration of the session. */
	seconds: number
}

/**
 * Opens a session after a log-in at an OAuth provider. The account is found by the provider's id or, the
 * first time, by its address. null: there is no account, and none may be created. In a transaction.
 */
export async function logInFrom(
	db: PoolClient,
	{ provider, subject, email }: OAuthAccount,
	{ maySignUp, seconds, ...securing }: LogIn,
): Promise<{ token: string; secured: Secured | null } | null> {
	const open = (userId: string) => openSession(db, { userId, seconds })
	const [linked] = await userOfIdentity(db, { provider, subject })
	if (linked) return { token: await open(linked.userId), secured: null }
	if (!maySignUp && !(await lockAccount(db, { email }))[0]) return null
	const { userId, secured } = await accountOfReader(db, email, null, securing)
	await linkIdentity(db, { provider, subject, userId })
	return { token: await open(userId), secured }
}
