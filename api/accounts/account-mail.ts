import type { PoolClient } from 'pg'
import { renderPlatformMail } from '../../activities/rendering/platform/mail.ts'
import { keepToken, type TokenPurpose } from '../../db/accounts/account-token.ts'
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
 * A mail with a link that is good for an hour. Rendered first; what it returns writes token and mail
 * in the transaction that is to bring them about.
 */
export async function prepareAccountMail(
	purpose: TokenPurpose,
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
		await keepToken(db, [tokenDigest(token), userId, purpose, tokenSeconds])
		await queuePlatformMails(db, [JSON.stringify([{ from: platformFrom, to, ...mail }])])
	}
}

export const linkTo = (publicUrl: string, path: string, token: string) =>
	`${publicUrl}${path}?${new URLSearchParams({ token }).toString()}`
