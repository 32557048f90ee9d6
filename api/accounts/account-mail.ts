import type { PoolClient } from 'pg'
import { renderPlatformMail } from '../../mail/platform/mail.ts'
import { keepToken } from '../../db/accounts/account-token.ts'
import { newSecretToken, tokenDigest } from '../../db/accounts/secret-token.ts'
import { queuePlatformMails } from '../../db/emails/platform-mail.ts'

const tokenSeconds = 60 * 60

export interface MailSettings {
	publicUrl: string
	platformFrom: string
}

const kinds = {
	VERIFY_EMAIL: { kind: 'verification', path: '/auth/verify-email' },
	RESET_PASSWORD: { kind: 'passwordReset', path: '/auth/reset-password' },
} as const

/**
 * A mail with a link that is valid for an hour. It is rendered first; the returned function writes token
 * and mail in the caller's transaction.
 */
export async function prepareAccountMail(
	purpose: keyof typeof kinds,
	{ to, language, isVerified = false }: { to: string; language: string; isVerified?: boolean },
	{ publicUrl, platformFrom }: MailSettings,
) {
	const token = newSecretToken()
	const { kind, path } = kinds[purpose]
	const mail = await renderPlatformMail(kind, language, {
		url: linkTo(publicUrl, path, token),
		isVerified,
	})
	return async (db: PoolClient, userId: string) => {
		await keepToken(db, { digest: tokenDigest(token), userId, purpose, seconds: tokenSeconds })
		await queuePlatformMails(db, { mails: [{ from: platformFrom, to, ...mail }] })
	}
}

export const linkTo = (publicUrl: string, path: string, token: string) =>
	`${publicUrl}${path}?${new URLSearchParams({ token }).toString()}`
