import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { hashPassword, isPassword } from '../../db/accounts/password.ts'
import { tokenDigest } from '../../db/accounts/secret-token.ts'
import { closeSession, openSession, openSessionByPassword } from '../../db/accounts/session.ts'
import { accountByEmail, createAccount } from '../../db/accounts/user.ts'
import { forget, takeBack } from '../../db/throttle.ts'
import { transaction } from '../../db/transaction.ts'
import { ApiError } from '../errors.ts'
import { acceptedLanguage } from '../public/public-words.ts'
import { about, Body, Component, Email, Id, normalizeEmail } from '../schemas.ts'
import { type MailSettings, prepareAccountMail } from './account-mail.ts'
import { type SessionCookie, sessionSeconds } from './cookies.ts'
import { countTry, fromNetwork } from './throttling.ts'

const tags = ['accounts']
const Account = Component('Account', { id: Id, email: Type.String() })

export const Password = Type.String({
	minLength: 8,
	maxLength: 200,
	description: 'At least 8 characters.',
})

const quarter = 15 * 60
/** Many people may share a network, and each signs up once. */
const signupsOfNetwork = 300
export const triesFor = (email: string) => ({
	what: 'login',
	subject: email,
	tries: 10,
	seconds: quarter,
})
/** Comparing a password is expensive, so even successful log-ins are limited. */
const successes = (email: string) => ({
	what: 'logged in',
	subject: email,
	tries: 60,
	seconds: quarter,
})

export interface AccountOptions {
	pool: Pool
	cookie: SessionCookie
	settings: MailSettings & { features: { signupsDisabled: boolean } }
}

export const accounts: FastifyPluginAsyncTypebox<AccountOptions> = async (
	app,
	{ pool, cookie, settings },
) => {
	app.post(
		'/auth/login',
		{
			config: { auth: 'none', errors: [401, 429] },
			schema: {
				tags,
				summary: 'Log in; sets the session cookie',
				description:
					'The answer to a wrong password and to an unknown address is the same. Too many tries from one network or for one address are refused with 429.',
				body: Body(
					{ email: 'ann@example.org', password: 'correct horse battery' },
					{
						email: about('The address of the account.', Email),
						password: Type.String({ minLength: 1, description: 'The password of the account.' }),
					},
				),
				response: { 200: Account },
			},
		},
		async ({ body, ip }, reply) => {
			const email = normalizeEmail(body.email)
			await countTry(pool, fromNetwork('login', ip))
			await countTry(pool, triesFor(email))
			await countTry(pool, successes(email))
			const [account] = await accountByEmail(pool, { email })
			const hash = account?.passwordHash ?? null
			if (!(await isPassword(body.password, hash)) || !account) {
				await takeBack(pool, successes(email))
				throw noMatch()
			}
			const opening = { userId: account.id, seconds: sessionSeconds }
			const token = await openSessionByPassword(pool, opening, hash)
			if (token === null) throw noMatch()
			await Promise.all([forget(pool, triesFor(email)), takeBack(pool, fromNetwork('login', ip))])
			void reply.header('set-cookie', cookie.issue(token))
			return { id: account.id, email }
		},
	)

	app.post(
		'/auth/signup',
		{
			config: { auth: 'none', errors: [403, 409, 429] },
			schema: {
				tags,
				summary: 'Create an account; sets the session cookie and sends a verification mail',
				description:
					'Refused with 403 if this installation has disabled sign-ups. Projects can be created before the address is verified.',
				body: Body(
					{ email: 'ann@example.org', password: 'correct horse battery' },
					{
						email: about(
							'The address of the new account. A verification mail is sent to it.',
							Email,
						),
						password: Password,
					},
				),
				response: { 201: Account },
			},
		},
		async ({ body, ip, headers }, reply) => {
			if (settings.features.signupsDisabled)
				throw new ApiError(403, 'FORBIDDEN', 'Sign-ups are disabled on this installation', {
					suggestion: 'Ask a member of a project for an invitation.',
				})
			await countTry(pool, fromNetwork('signup', ip, signupsOfNetwork))
			const email = normalizeEmail(body.email)
			const recipient = { to: email, language: acceptedLanguage(headers['accept-language']) }
			const [hash, queueMail] = await Promise.all([
				hashPassword(body.password),
				prepareAccountMail('VERIFY_EMAIL', recipient, settings),
			])
			const { id, token } = await transaction(pool, async (db) => {
				const [account] = await createAccount(db, { email, passwordHash: hash, isVerified: false })
				if (!account) throw taken()
				await queueMail(db, account.id)
				const opening = { userId: account.id, seconds: sessionSeconds }
				return { id: account.id, token: await openSession(db, opening) }
			})
			app.relay.wake()
			return reply.code(201).header('set-cookie', cookie.issue(token)).send({ id, email })
		},
	)

	app.get(
		'/auth/logout',
		{
			exposeHeadRoute: false,
			config: { auth: 'none' },
			schema: {
				tags,
				summary: 'End the session, clear its cookie',
				description:
					'Ends only the session of this cookie. Without a session it does nothing and succeeds.',
				response: { 204: Type.Null() },
			},
		},
		async (request, reply) => {
			const token = cookie.read(request)
			if (token !== undefined) await closeSession(pool, { digest: tokenDigest(token) })
			return reply.code(204).header('set-cookie', cookie.cleared).send(null)
		},
	)

	app.get(
		'/users/@me',
		{
			config: { auth: 'session' },
			schema: {
				tags,
				summary: 'Get the current user',
				description: 'The account of the session, and whether its address is verified.',
				response: {
					200: Type.Object({ id: Id, email: Type.String(), emailVerified: Type.Boolean() }),
				},
			},
		},
		async ({ user: { id, email, emailVerified } }) => ({ id, email, emailVerified }),
	)
}

const noMatch = () =>
	new ApiError(401, 'INVALID_CREDENTIALS', 'Address and password do not match', {
		suggestion: 'To set a new password, request a link with POST /auth/request-password-reset.',
	})
const taken = () =>
	new ApiError(409, 'CONFLICT', 'An account with this email address already exists', {
		suggestion: 'Log in, or request a link to set a new password.',
	})
