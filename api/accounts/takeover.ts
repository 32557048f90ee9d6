import type { FastifyRequest } from 'fastify'
import type { PoolClient } from 'pg'
import { renderPlatformMail } from '../../mail/platform/mail.ts'
import type { Secured, Securing } from '../../db/accounts/account-proof.ts'
import { queuePlatformMails } from '../../db/emails/platform-mail.ts'
import { recordAudit } from '../../db/projects/audit.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { auditEntryOf } from '../projects/audit.ts'
import { acceptedLanguage } from '../public/public-words.ts'
import type { MailSettings } from './account-mail.ts'

export const securingWith = ({ sessionSecret }: { sessionSecret: string }): Securing => ({
	sessionSecret,
	taskQueue: taskQueues.core,
})

/** Announces the changes by mail and in the audit log. Wake the relay after the transaction. */
export async function announceSecured(
	db: PoolClient,
	request: FastifyRequest,
	secured: Secured | null,
	{ platformFrom }: Pick<MailSettings, 'platformFrom'>,
) {
	if (!secured) return
	const { email, userId, projects, members } = secured
	const mail = await renderPlatformMail(
		'accountSecured',
		acceptedLanguage(request.headers['accept-language']),
		{ projects: projects.map(({ name }) => name), members },
	)
	await queuePlatformMails(db, { mails: [{ from: platformFrom, to: email, ...mail }] })
	const projectIds = projects.map(({ publicId }) => publicId)
	await recordAudit(db, auditEntryOf(request, { projectIds, userId, actor: email }, 200))
}

/** The answer to an action that may have secured an account. */
export const securedAnswer = (message: string, secured: Secured | null) =>
	secured
		? {
				message: `${message}. Your address was not verified before, so the keys of your projects were replaced, their other members removed, and their webhook endpoints disabled, as well as workflows that send data of contacts to other addresses`,
				securedProjects: secured.projects.length,
			}
		: { message }
