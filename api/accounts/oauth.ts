import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { oauthProviders } from '../../db/accounts/oauth-identity.ts'
import { logInFrom, type OAuthAccount } from '../../db/accounts/oauth-login.ts'
import { transaction } from '../../db/transaction.ts'
import { notFound } from '../errors.ts'
import { pagePolicy } from '../public/public-pages.tsx'
import { acceptedLanguage } from '../public/public-words.ts'
import { loggedInPage, notLoggedInPage } from './account-pages.tsx'
import { readCookie, type SessionCookie, sessionSeconds, setCookie } from './cookies.ts'
import { accountOf, type OAuthClient, type ProviderName, providers } from './oauth-providers.ts'
import { createSigner } from './signer.ts'
import { announceSecured, securingWith } from './takeover.ts'
import { countTry, networkOf } from './throttling.ts'

const tags = ['accounts']
const config = { auth: 'none' } as const
const Params = Type.Object({ provider: Type.String({ description: 'github or google.' }) })

/** How long a log-in at the provider may take. */
const tripSeconds = 600

interface Trip {
	provider: ProviderName
	state: string
	verifier: string
}

export interface OAuthOptions {
	pool: Pool
	cookie: SessionCookie
	settings: {
		publicUrl: string
		sessionSecret: string
		oauth: Record<ProviderName, OAuthClient | undefined>
		features: { signupsDisabled: boolean }
		platformFrom: string
	}
}

/**
 * Logging in with an account at GitHub or Google. The values that the callback must match (the
 * state, and the proof for the provider) travel in a signed cookie of the same browser, so a link
 * can't log anybody in to another person's account.
 */
export const oauth: FastifyPluginAsyncTypebox<OAuthOptions> = async (
	app,
	{ pool, cookie, settings },
) => {
	const { publicUrl, oauth: clients, features } = settings
	const trips = createSigner<Trip>(settings.sessionSecret, 'oauth')
	const tripCookie = (value: string, seconds: number) =>
		setCookie({
			name: 'oauth',
			value,
			path: '/auth',
			seconds,
			isSecure: publicUrl.startsWith('https:'),
		})
	const redirectTo = (provider: ProviderName) => `${publicUrl}/auth/${provider}/callback`

	function configured({ provider }: { provider: string }) {
		const name = oauthProviders.find((known) => known === provider)
		const client = name && clients[name]
		if (!client) throw notFound('OAuth provider', provider)
		return { name, client }
	}

	app.get(
		'/auth/oauth-config',
		{
			config,
			schema: {
				tags,
				summary: 'List the providers to log in with',
				description:
					'The providers that this installation is configured for. Each has a page at /auth/{provider}.',
				response: { 200: Type.Object({ github: Type.Boolean(), google: Type.Boolean() }) },
			},
		},
		async () => ({ github: clients.github !== undefined, google: clients.google !== undefined }),
	)

	app.get(
		'/auth/:provider',
		{
			exposeHeadRoute: false,
			config,
			schema: {
				tags,
				summary: 'Log in with GitHub or Google',
				description: 'Redirects a browser to the provider. Programs log in with POST /auth/login.',
				params: Params,
				response: { 303: Type.Null({ description: 'Redirects to the page of the provider' }) },
			},
		},
		async ({ params }, reply) => {
			const { name, client } = configured(params)
			const trip = { provider: name, state: secret(), verifier: secret() }
			const url = new URL(providers[name].authorizeUrl(client.base))
			url.search = new URLSearchParams({
				response_type: 'code',
				client_id: client.clientId,
				redirect_uri: redirectTo(name),
				scope: providers[name].scope,
				state: trip.state,
				code_challenge: createHash('sha256').update(trip.verifier).digest('base64url'),
				code_challenge_method: 'S256',
			}).toString()
			return reply
				.header('set-cookie', tripCookie(trips.sign(trip, tripSeconds), tripSeconds))
				.redirect(url.href, 303)
		},
	)

	app.get(
		'/auth/:provider/callback',
		{
			exposeHeadRoute: false,
			config: { ...config, errors: [403, 429], answers: 'text/html' },
			schema: {
				tags,
				summary: 'Finish logging in with GitHub or Google',
				description:
					'The provider redirects the browser here. The page sets the session cookie, and creates an account for a new address.',
				params: Params,
				querystring: Type.Object({
					code: Type.Optional(
						Type.String({ maxLength: 2000, description: 'The code from the provider.' }),
					),
					state: Type.Optional(
						Type.String({ maxLength: 2000, description: 'The state that our redirect carried.' }),
					),
				}),
			},
		},
		async (request, reply) => {
			const { name, client } = configured(request.params)
			const { code, state } = request.query
			const trip = trips.verify(readCookie(request, 'oauth') ?? '')
			const cookies = [tripCookie('', 0)]
			const isOurs = trip?.provider === name && state !== undefined && isSame(state, trip.state)
			// Without a code the person has cancelled the log-in.
			if (!isOurs || code === undefined) return show(request, reply, cookies, notLoggedInPage, 400)

			const from = networkOf(request.ip)
			await countTry(pool, { what: 'oauth from', subject: from, tries: 50, seconds: 900 })
			const grant = { code, redirectUri: redirectTo(name), verifier: trip.verifier }
			const account = await accountOf(name, client, grant).catch((err: Error) => {
				request.log.warn({ err, provider: name }, 'no account from the OAuth provider')
				return null
			})
			const login = account && (await logIn(request, account))
			if (!login) return show(request, reply, cookies, notLoggedInPage, 403)
			const page = (language: string) => loggedInPage(language, login.secured !== null)
			return show(request, reply, [...cookies, cookie.issue(login.token)], page, 200)
		},
	)

	async function logIn(request: FastifyRequest, account: OAuthAccount) {
		const options = {
			maySignUp: !features.signupsDisabled,
			seconds: sessionSeconds,
			...securingWith(settings),
		}
		const login = await transaction(pool, async (db) => {
			const login = await logInFrom(db, account, options)
			if (login) await announceSecured(db, request, login.secured, settings)
			return login
		})
		app.relay.wake()
		return login
	}
}

const secret = () => randomBytes(32).toString('base64url')

function isSame(given: string, wanted: string) {
	const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
	return a.length === b.length && timingSafeEqual(a, b)
}

const show = (
	{ headers }: FastifyRequest,
	reply: FastifyReply,
	cookies: string[],
	page: (language: string) => string,
	status: number,
) =>
	reply
		.code(status)
		.header('set-cookie', cookies)
		.header('content-security-policy', pagePolicy)
		.type('text/html; charset=utf-8')
		.send(page(acceptedLanguage(headers['accept-language'])))
