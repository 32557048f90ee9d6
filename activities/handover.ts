import type { Pool } from 'pg'
import { campaignMails } from '../db/campaign-mail.ts'
import {
	type AttachmentRow,
	type AttemptEnd,
	attachmentsOf,
	type OpenedMail,
} from '../db/ledger.ts'
import type { ProviderPause } from './provider-pause.ts'
import type { DkimKey, Outcome, Provider } from './providers/provider.ts'
import { renderCampaignMail } from './rendering/campaign-mail.ts'
import { composeMessage } from './rendering/compose.ts'
import type { Attachment, Message } from './rendering/message.ts'

export interface HandoverServices {
	provider: Provider
	pause: ProviderPause
	settings: { publicUrl: string; patienceMs: number; trackingKey: Buffer }
}

const firstDeferralMs = 30_000
const longestDeferralMs = 3_600_000

/** Puts one opened mail together, hands it over, and says what the ledger is to remember of it. */
export async function handOver(
	{ provider, pause, settings }: HandoverServices,
	mail: OpenedMail,
	attachments: Attachment[],
	dkim: DkimKey | undefined,
): Promise<AttemptEnd> {
	const outcome = await attempt()
	if (outcome.kind === 'UNAVAILABLE') pause.unavailable(outcome.error, outcome.retryAfterMs)
	else if (outcome.kind !== 'UNKNOWN') pause.available()
	return attemptEnd(mail, outcome, provider.idempotent, settings.patienceMs)

	async function attempt(): Promise<Outcome> {
		let message: Message
		try {
			const { campaign_id: campaignId, tracked } = mail
			const tracking = tracked ? { key: settings.trackingKey, campaignId } : null
			message = composeMessage(mailOf(mail), attachments, settings.publicUrl, tracking)
		} catch (error) {
			// A mail that cannot be put together will not be the next time either.
			return {
				kind: 'REJECTED',
				error: `The mail could not be composed: ${String(error)}`,
				bounce: false,
			}
		}
		return provider.deliver(message, dkim)
	}
}

export function attemptEnd(
	mail: { id: string; attempt: number; created_at: Date },
	outcome: Outcome,
	idempotent: boolean,
	patienceMs: number,
): AttemptEnd {
	const end = { id: mail.id, attempt: mail.attempt, outcome: outcome.kind, dueAt: null }
	if (outcome.kind === 'SENT')
		return { ...end, status: 'SENT', error: null, providerMessageId: outcome.providerMessageId }
	const failed = { ...end, error: outcome.error.slice(0, 1000), providerMessageId: null }
	if (outcome.kind === 'REJECTED')
		return { ...failed, status: outcome.bounce ? 'BOUNCED' : 'FAILED' }
	// Nobody else can tell us what became of it, but a provider that knows our id makes asking harmless.
	if (outcome.kind === 'UNKNOWN' && !idempotent) return { ...failed, status: 'UNCERTAIN' }
	if (Date.now() - mail.created_at.getTime() > patienceMs)
		return { ...failed, status: 'FAILED', error: `Given up after many tries: ${failed.error}` }
	if (outcome.kind === 'UNAVAILABLE') return { ...failed, status: 'PENDING' }
	const retryAfterMs = outcome.kind === 'DEFERRED' ? outcome.retryAfterMs : 1000
	const pauseMs =
		retryAfterMs ?? Math.min(firstDeferralMs * 2 ** (mail.attempt - 1), longestDeferralMs)
	return { ...failed, status: 'PENDING', dueAt: new Date(Date.now() + pauseMs).toISOString() }
}

/** Those among them that are a campaign's get what is the campaign's. */
export async function completeCampaignMails(pool: Pool, mails: OpenedMail[], publicUrl: string) {
	const theirs = new Map(mails.filter((mail) => mail.campaign_id).map((mail) => [mail.id, mail]))
	if (theirs.size === 0) return
	for (const source of await campaignMails(pool, [mails[0]!.project_id, [...theirs.keys()]])) {
		const mail = theirs.get(source.id)!
		const { subject, body, locale } = renderCampaignMail(source, publicUrl)
		Object.assign(mail, { subject, body, language: locale ?? mail.language })
	}
}

/** The files of these mails, by request: the mails of one request share them. */
export async function loadAttachments(pool: Pool, mails: OpenedMail[]) {
	const requests = [...new Set(mails.filter((m) => m.has_attachments).map((m) => m.request_id))]
	const byRequest = new Map<string, Attachment[]>()
	if (requests.length === 0) return byRequest
	for (const row of await attachmentsOf(pool, [mails[0]!.project_id, requests])) {
		const files = byRequest.get(row.request_id) ?? []
		files.push(fileOf(row))
		byRequest.set(row.request_id, files)
	}
	return byRequest
}

const fileOf = (row: AttachmentRow): Attachment => ({
	filename: row.filename,
	content: row.content,
	contentType: row.content_type,
	contentId: row.content_id,
	disposition: row.inline ? 'inline' : 'attachment',
})

const mailOf = (row: OpenedMail) => ({
	emailId: row.id,
	projectId: row.project_id,
	contactId: row.contact_id,
	from: { email: row.from, name: row.from_name },
	to: { email: row.to, name: row.to_name },
	replyTo: row.reply_to,
	subject: row.subject,
	body: row.body,
	headers: row.headers,
	language: row.language,
	type: row.type,
	isCampaign: row.campaign_id !== null,
	createdAt: row.created_at,
})
