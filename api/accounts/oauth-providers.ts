// Ours, not arctic, which knows only github.com: GitHub Enterprise has its own address. It would save 20 lines.

import Type, { type Static, type TSchema } from 'typebox'
import Value from 'typebox/value'
import type { OAuthAccount } from '../../db/accounts/oauth-login.ts'
import { isEmail, normalizeEmail } from '../schemas.ts'

export type ProviderName = OAuthAccount['provider']

export interface OAuthClient {
	clientId: string
	clientSecret: string
	/** Replaces the provider's own address: GitHub Enterprise, or a test. */
	base?: string | undefined
}

export interface Grant {
	code: string
	redirectUri: string
	/** The proof of RFC 7636 that the same browser comes back. */
	verifier: string
}

interface Provider {
	scope: string
	authorizeUrl(base?: string): string
	tokenUrl(base?: string): string
	/** null: they have no verified address. */
	account(token: string, base?: string): Promise<{ subject: string; email: string } | null>
}

const GitHubUser = Type.Object({ id: Type.Integer() })
const GitHubEmails = Type.Array(
	Type.Object({ email: Type.String(), primary: Type.Boolean(), verified: Type.Boolean() }),
)
const GoogleUser = Type.Object({
	sub: Type.String(),
	email: Type.Optional(Type.String()),
	email_verified: Type.Optional(Type.Boolean()),
})
const Token = Type.Object({ access_token: Type.String() })

const patienceMs = 10_000

export const providers: Record<ProviderName, Provider> = {
	github: {
		scope: 'read:user user:email',
		authorizeUrl: (base = 'https://github.com') => `${base}/login/oauth/authorize`,
		tokenUrl: (base = 'https://github.com') => `${base}/login/oauth/access_token`,
		async account(token, base) {
			const api = base ? `${base}/api/v3` : 'https://api.github.com'
			const [{ id }, emails] = await Promise.all([
				read(`${api}/user`, token, GitHubUser),
				read(`${api}/user/emails`, token, GitHubEmails),
			])
			const own = emails.find(({ primary, verified }) => primary && verified)
			return own ? { subject: String(id), email: own.email } : null
		},
	},
	google: {
		scope: 'openid email',
		authorizeUrl: (base = 'https://accounts.google.com') => `${base}/o/oauth2/v2/auth`,
		tokenUrl: (base = 'https://oauth2.googleapis.com') => `${base}/token`,
		async account(token, base = 'https://openidconnect.googleapis.com') {
			const { sub, email, email_verified } = await read(`${base}/v1/userinfo`, token, GoogleUser)
			return email && email_verified ? { subject: sub, email } : null
		},
	},
}

/** Exchanges the code for a token and reads the account with it. null: no verified address. */
export async function accountOf(
	name: ProviderName,
	client: OAuthClient,
	{ code, redirectUri, verifier }: Grant,
): Promise<OAuthAccount | null> {
	const provider = providers[name]
	const answer = await fetch(provider.tokenUrl(client.base), {
		method: 'POST',
		headers: { accept: 'application/json' },
		body: new URLSearchParams({
			grant_type: 'authorization_code',
			client_id: client.clientId,
			client_secret: client.clientSecret,
			code,
			redirect_uri: redirectUri,
			code_verifier: verifier,
		}),
		redirect: 'error',
		signal: AbortSignal.timeout(patienceMs),
	})
	// GitHub refuses a code with a 200.
	const { access_token } = await parsed(answer, Token)
	const account = await provider.account(access_token, client.base)
	if (!account || !isEmail(account.email)) return null
	return { provider: name, subject: account.subject, email: normalizeEmail(account.email) }
}

async function read<T extends TSchema>(url: string, token: string, schema: T) {
	const answer = await fetch(url, {
		headers: {
			authorization: `Bearer ${token}`,
			accept: 'application/json',
			'user-agent': 'Tempost',
		},
		redirect: 'error',
		signal: AbortSignal.timeout(patienceMs),
	})
	return parsed(answer, schema)
}

async function parsed<T extends TSchema>(answer: Response, schema: T): Promise<Static<T>> {
	const body: unknown = await answer.json()
	if (answer.ok && Value.Check(schema, body)) return body
	throw new Error(`The OAuth provider answered ${answer.status} with something else`)
}
