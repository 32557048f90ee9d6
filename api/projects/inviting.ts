import type { FastifyRequest } from 'fastify'
import type { Pool, PoolClient } from 'pg'
import { newSecretToken, tokenDigest } from '../../db/accounts/secret-token.ts'
import { queuePlatformMails } from '../../db/emails/platform-mail.ts'
import { renderPlatformMail } from '../../mail/platform/mail.ts'
import { linkTo, type MailSettings } from '../accounts/account-mail.ts'
import { unverified } from '../accounts/session-auth.ts'
import { countTry, networkOf } from '../accounts/throttling.ts'
import { acceptedLanguage } from '../public/public-words.ts'

export const invitationSeconds = 7 * 24 * 60 * 60

export interface InvitingOptions {
	pool: Pool
	settings: MailSettings
	isMailReal: boolean
}

/**
 * Whether somebody has an account shows in the answer, and any address gets a mail in our name. So inviters
 * must be verified, and their number is limited.
 */
export async function limitInviter(
	{ user, ip, project }: FastifyRequest,
	{ pool, isMailReal }: InvitingOptions,
) {
	if (isMailReal && !user.emailVerified) throw unverified()
	const count = (what: string, subject: string, tries: number) =>
		countTry(pool, { what, subject, tries, seconds: 3600 })
	await count('invite from', networkOf(ip), 100)
	await count('invite by', user.id, 50)
	await count('invite', project.publicId, 50)
}

/** One person gets few mails about one project. */
export const limitInvited = (db: PoolClient, { project }: FastifyRequest, email: string) =>
	countTry(db, {
		what: 'invite',
		subject: `${project.publicId} ${email}`,
		tries: 3,
		seconds: 3600,
	})

/** A new link to join the project of the request, and the mail with it. */
export async function newInvitation(
	{ project, user, headers }: FastifyRequest,
	{ publicUrl, platformFrom }: MailSettings,
) {
	const token = newSecretToken()
	const mail = await renderPlatformMail(
		'invitation',
		acceptedLanguage(headers['accept-language']),
		{
			url: linkTo(publicUrl, '/auth/accept-invitation', token),
			project: project.name,
			inviter: user.email,
		},
	)
	return {
		digest: tokenDigest(token),
		mailTo: (db: PoolClient, to: string) =>
			queuePlatformMails(db, { mails: [{ from: platformFrom, to, ...mail }] }),
	}
}
