import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { accountOfReader, resetPassword } from '../../db/accounts/account-proof.ts'
import { spendToken } from '../../db/accounts/account-token.ts'
import { hashPassword } from '../../db/accounts/password.ts'
import { tokenDigest } from '../../db/accounts/secret-token.ts'
import { confirmAddress } from '../../db/accounts/user.ts'
import { recordAudit } from '../../db/projects/audit.ts'
import { acceptInvitation, lockInvitation } from '../../db/projects/members.ts'
import { forget } from '../../db/throttle.ts'
import { transaction } from '../../db/transaction.ts'
import { ApiError, invalid } from '../errors.ts'
import { auditEntryOf } from '../projects/audit.ts'
import { serveForms } from './account-forms.ts'
import type { MailSettings } from './account-mail.ts'
import { Password, triesFor } from './accounts.ts'
import { about, Body, Extended, Message } from '../schemas.ts'
import { announceSecured, securedAnswer, securingWith } from './takeover.ts'

const tags = ['accounts']
const Secured = Extended('SecuredAccount', [Message], {
	securedProjects: Type.Optional(
		Type.Integer({
			description:
				'Present if the address was not verified before: how many projects of the account got new keys and lost their other members. Their webhook endpoints are disabled, and so are workflows that send data of contacts to other addresses',
		}),
	),
})
const Token = Type.String({
	minLength: 1,
	maxLength: 200,
	description: 'The token from the link in our mail.',
})
/** A token for the examples. */
const token = 'mX3zqk1v8Zr7oG0yP2sT'
const config = { auth: 'none' } as const

/** The actions behind links in our mails: programs send JSON, the pages send forms. */
interface LinkOptions {
	pool: Pool
	settings: MailSettings & { sessionSecret: string }
}

export const accountLinks: FastifyPluginAsyncTypebox<LinkOptions> = async (
	app,
	{ pool, settings },
) => {
	serveForms(app, pool)

	app.post(
		'/auth/verify-email',
		{
			config,
			schema: {
				tags,
				summary: 'Verify an address with the token from our mail',
				description:
					'The token works once. No session is needed, so the link works in any browser.',
				body: Body({ token }, { token: Token }),
				response: { 200: Message },
			},
		},
		async ({ body }) => {
			await transaction(pool, async (db) => {
				const [spent] = await spendToken(db, {
					digest: tokenDigest(body.token),
					purpose: 'VERIFY_EMAIL',
				})
				if (!spent) throw badToken()
				await confirmAddress(db, spent.userId)
			})
			return { message: 'Your email address is verified' }
		},
	)

	app.post(
		'/auth/reset-password',
		{
			config,
			schema: {
				tags,
				summary: 'Set a new password with the token from our mail; ends all sessions',
				description:
					'If the address was not verified before, the keys of the account’s projects are replaced, their other members and open invitations are removed, and their webhook endpoints are disabled and get new secrets. No data is deleted.',
				body: Body(
					{ token, newPassword: 'correct horse battery' },
					{ token: Token, newPassword: Password },
				),
				response: { 200: Secured },
			},
		},
		async (request) => {
			const { body } = request
			const secured = await transaction(pool, async (db) => {
				const [spent] = await spendToken(db, {
					digest: tokenDigest(body.token),
					purpose: 'RESET_PASSWORD',
				})
				if (!spent) throw badToken()
				const hash = await hashPassword(body.newPassword)
				const reset = await resetPassword(db, spent.userId, hash, securingWith(settings))
				const { email, secured } = reset
				await forget(db, triesFor(email))
				await announceSecured(db, request, secured, settings)
				return secured
			})
			app.relay.wake()
			return securedAnswer('Your password is changed', secured)
		},
	)

	app.post(
		'/auth/accept-invitation',
		{
			config,
			schema: {
				tags,
				summary: 'Join a project with the token from our mail',
				description:
					'A password is required unless there is an account with a verified address. It replaces the password of an unverified account and ends its sessions. The keys of that account’s projects are replaced, their other members and open invitations are removed, and their webhook endpoints are disabled and get new secrets.',
				body: Body(
					{ token, password: 'correct horse battery' },
					{
						token: Token,
						password: Type.Optional(
							about('Required unless there is an account with a verified address.', Password),
						),
					},
				),
				response: { 200: Secured },
			},
		},
		async (request) => {
			const { body } = request
			const { project, secured } = await transaction(pool, async (db) => {
				const [invitation] = await lockInvitation(db, { digest: tokenDigest(body.token) })
				if (!invitation) throw badToken()
				const { projectId, publicId, email, role, hasAccount } = invitation
				if (!hasAccount && body.password === undefined) throw passwordMissing()
				const hash = hasAccount ? null : await hashPassword(body.password!)
				const { userId, secured } = await accountOfReader(db, email, hash, securingWith(settings))
				if (hash !== null) await forget(db, triesFor(email))
				await acceptInvitation(db, { projectId, userId, role, email })
				await announceSecured(db, request, secured, settings)
				const joined = { projectIds: [publicId], userId, actor: email }
				await recordAudit(db, auditEntryOf(request, joined, 200))
				return { project: invitation.project, secured }
			})
			app.relay.wake()
			return securedAnswer(`You are a member of ${project}`, secured)
		},
	)
}

const badToken = () =>
	new ApiError(400, 'BAD_REQUEST', 'This link is no longer valid', {
		suggestion: 'A link works once, and for a limited time. Ask for a new one.',
	})

const passwordMissing = () =>
	invalid({ field: 'password', message: 'is required for a new account', code: 'required' })
