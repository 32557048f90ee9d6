import { setTimeout as sleep } from 'node:timers/promises'
import { type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { accountByEmail } from '../../db/accounts/user.ts'
import { transaction } from '../../db/transaction.ts'
import { acceptedLanguage } from '../public/public-words.ts'
import { about, Body, Email, Message, normalizeEmail } from '../schemas.ts'
import { type MailSettings, prepareAccountMail } from './account-mail.ts'
import { countTry, fromNetwork } from './throttling.ts'

const tags = ['accounts']
const errors: [429] = [429]

/** Longer than writing a mail takes, so that the time doesn't reveal whether one was written. */
const answerMs = 300

export interface RequestOptions {
	pool: Pool
	settings: MailSettings
}

/** Mails that people request, at most three of each kind per hour. */
export const accountRequests: FastifyPluginAsyncTypebox<RequestOptions> = async (
	app,
	{ pool, settings },
) => {
	app.post(
		'/auth/request-verification',
		{
			config: { auth: 'session', errors },
			schema: {
				tags,
				summary: 'Send the verification mail again',
				description: 'Each mail has a new link. Too many requests are refused with 429.',
				response: { 200: Message },
			},
		},
		async ({ user, headers }) => {
			if (user.emailVerified) return { message: 'Your email address is already verified' }
			await countTry(pool, { what: 'verification', subject: user.id, tries: 3, seconds: 3600 })
			await write('VERIFY_EMAIL', user, headers['accept-language'])
			return { message: 'We have sent you a mail with a link' }
		},
	)

	app.post(
		'/auth/request-password-reset',
		{
			config: { auth: 'none', errors },
			schema: {
				tags,
				summary: 'Send a mail with a link to set a new password',
				description: 'The answer is the same whether there is such an account or not.',
				body: Body(
					{ email: 'ann@example.org' },
					{ email: about('The address of the account.', Email) },
				),
				response: { 200: Message },
			},
		},
		async ({ body, headers, ip }) => {
			const email = normalizeEmail(body.email)
			await countTry(pool, fromNetwork('reset', ip))
			await countTry(pool, { what: 'reset', subject: email, tries: 3, seconds: 3600 })
			const [account] = await accountByEmail(pool, { email })
			const written = account && write('RESET_PASSWORD', account, headers['accept-language'])
			await Promise.all([written, sleep(answerMs)])
			return { message: 'If there is an account with this address, a mail is on its way to it' }
		},
	)

	async function write(
		purpose: Parameters<typeof prepareAccountMail>[0],
		user: { id: string; email: string; emailVerified: boolean },
		wishes: string | undefined,
	) {
		const { email: to, emailVerified: isVerified } = user
		const recipient = { to, isVerified, language: acceptedLanguage(wishes) }
		const queueMail = await prepareAccountMail(purpose, recipient, settings)
		await transaction(pool, (db) => queueMail(db, user.id))
		app.relay.wake()
	}
}
