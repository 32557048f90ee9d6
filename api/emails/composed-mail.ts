import { campaignMails } from '../../db/campaigns/campaign-mail.ts'
import { wholeMail } from '../../db/emails/composed-mail.ts'
import { completed } from '../../mail/campaign/completed-mail.ts'
import { mailOf } from '../../mail/ledger-mail.ts'
import type { Message } from '../../mail/message.ts'
import { perform, wireOf } from '../../mail/rendering.ts'
import { bufferOf } from '../../mail/threads/buffer-of.ts'
import { ApiError, notFound } from '../errors.ts'
import type { EmailRoutes } from './email-view.ts'

/**
 * A mail as it was composed, or would be now, without its attachments. Without tracking: looking at it is no open,
 * and its links lead where they were meant to.
 */
export async function composedMail(
	options: EmailRoutes,
	projectId: string,
	emailId: string,
): Promise<Message> {
	const mail = await mailToCompose(options, projectId, emailId)
	return perform(projectId, 'compose', { mail, publicUrl: options.publicUrl, tracking: null })
}

/** The same in its wire format. */
export async function sourceOf(
	options: EmailRoutes,
	projectId: string,
	emailId: string,
): Promise<Buffer> {
	const mail = await mailToCompose(options, projectId, emailId)
	return bufferOf(await perform(projectId, 'source', { mail, publicUrl: options.publicUrl }))
}

async function mailToCompose({ pool, publicUrl }: EmailRoutes, projectId: string, emailId: string) {
	const [mail] = await wholeMail(pool, { projectId, emailId })
	if (!mail) throw notFound('email', emailId)
	if (mail.source_type === 'INBOUND') throw received()
	const [source] =
		mail.body === null ? await campaignMails(pool, { projectId, emailIds: [emailId] }) : []
	if (mail.body === null && !source) throw contentGone()
	const own = { ...mail, body: mail.body ?? '' }
	const whole = source ? await completed({ ...own, to: source.email }, source, publicUrl) : own
	return mailOf(whole)
}

/** The headers as they are sent, unfolded and in their order. */
export async function headersOf(message: Message) {
	const raw = await wireOf({ ...message, html: '', text: '', attachments: [] })
	const text = raw.toString('latin1')
	const head = text.slice(0, text.indexOf('\r\n\r\n')).replaceAll(/\r\n(?=[ \t])/g, '')
	return head.split('\r\n').map((line) => {
		const colon = line.indexOf(':')
		return { name: line.slice(0, colon), value: line.slice(colon + 1).trim() }
	})
}

const received = () =>
	new ApiError(409, 'CONFLICT', 'This mail was received, and its provider keeps its content', {
		suggestion: 'Read it where your provider stores incoming mail.',
	})

export const contentGone = () =>
	new ApiError(409, 'CONFLICT', 'The content of this mail has been deleted', {
		suggestion:
			'Contents are deleted after BODY_RETENTION_DAYS, with the campaign they belong to, and when a person is erased.',
	})
