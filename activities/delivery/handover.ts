import type { Pool } from 'pg'
import { type CampaignMail, campaignMails } from '../../db/campaigns/campaign-mail.ts'
import { ThreadLost } from '../../mail/threads/pool.ts'
import {
	type AttachmentRow,
	type AttemptEnd,
	attachmentsOf,
	keyLifeHours,
	type OpenedMail,
	type OpenMail,
} from '../../db/emails/ledger.ts'
import { mayBeTaken, type Outcome, type Provider } from '../../outside/providers/provider.ts'
import type { DkimKey } from '../../mail/mime/dkim.ts'
import { languageFor } from '../../mail/language.ts'
import type { Attachment, Message } from '../../mail/message.ts'
import { perform } from '../../mail/rendering.ts'
import { storableText } from '../../db/storable-text.ts'
import type { ProviderPause } from './provider-pause.ts'

export interface HandoverServices {
	provider: Provider
	pause: ProviderPause
	settings: { publicUrl: string; patienceMs: number; trackingKey: Buffer }
}

/** The parts of a mail that are not in its own row. */
interface Contents {
	attachments: Attachment[]
	/** For a campaign's mail: the source from which its subject and body are rendered. */
	source: CampaignMail | undefined
}

const keyLifeMs = keyLifeHours * 3_600_000
/** Greylisting servers defer every first try, so the second one follows soon: a person may be waiting. */
const firstDeferralMs = 5000
const laterDeferralMs = 30_000
const longestDeferralMs = 3_600_000

/** Composes an opened mail, hands it over and returns what the ledger records. */
export async function handOver(
	{ provider, pause, settings }: HandoverServices,
	mail: OpenedMail,
	{ attachments, source }: Contents,
	dkim: DkimKey | undefined,
): Promise<AttemptEnd> {
	const startedAt = performance.now()
	const outcome = await attempt()
	return attemptEnd(mail, outcome, provider.idempotent, settings.patienceMs)

	async function attempt(): Promise<Outcome> {
		let message: Message
		try {
			const { campaign_id: campaignId, tracked } = mail
			const tracking = tracked ? { key: settings.trackingKey, campaignId } : null
			const whole = source ? await completed(mail, source, settings.publicUrl) : mail
			const { publicUrl } = settings
			const composed = { mail: mailOf(whole), publicUrl, tracking }
			message = { ...(await perform(mail.project_id, 'compose', composed)), attachments }
		} catch (error) {
			if (error instanceof ThreadLost)
				return { kind: 'DEFERRED', error: error.message, retryAfterMs: null }
			// Composing this mail would fail again.
			return {
				kind: 'REJECTED',
				error: `The mail could not be composed: ${String(error)}`,
				bounce: false,
			}
		}
		const answer = await provider.deliver(message, dkim)
		heed({ provider, pause }, answer, startedAt)
		return answer
	}
}

/** Updates the provider's pause by the answer to one mail. */
export function heed(
	{ provider, pause }: Pick<HandoverServices, 'provider' | 'pause'>,
	outcome: Outcome,
	startedAt: number,
) {
	if (outcome.kind === 'UNAVAILABLE')
		pause.unavailable(outcome.error, outcome.retryAfterMs, startedAt)
	else if (outcome.kind !== 'UNKNOWN') pause.available(startedAt)
	// The mail is repeated under its key. The pause keeps the repeats from following each other at once.
	else if (provider.idempotent) pause.unavailable(outcome.error, null, startedAt)
}

/** What the ledger records about an attempt, and the mail's next status. */
export function attemptEnd(
	mail: { id: string; attempt: number; first_attempt_at: Date },
	outcome: Outcome,
	idempotent: boolean,
	patienceMs: number,
): AttemptEnd {
	const end = { id: mail.id, attempt: mail.attempt, outcome: outcome.kind, dueInMs: null }
	if (outcome.kind === 'SENT')
		return { ...end, status: 'SENT', error: null, providerMessageId: outcome.providerMessageId }
	// A provider's answer may quote any text it was given.
	const error = storableText(outcome.error.slice(0, 1000))
	const failed = { ...end, error, providerMessageId: null }
	if (outcome.kind === 'REJECTED')
		return { ...failed, status: outcome.bounce ? 'BOUNCED' : 'FAILED' }
	const ageMs = Date.now() - mail.first_attempt_at.getTime()
	if (mayBeTaken(outcome)) {
		// Only the provider knows what became of the mail. A repeat is harmless if the provider knows our id.
		const isAnswerable = idempotent && ageMs < Math.min(patienceMs, keyLifeMs)
		const unknown = { ...failed, outcome: 'UNKNOWN' as const }
		if (!isAnswerable) return { ...unknown, status: 'UNCERTAIN' }
		if (outcome.kind === 'UNAVAILABLE') return { ...unknown, status: 'PENDING' }
		return { ...unknown, status: 'PENDING', dueInMs: backoff(1000, mail.attempt) }
	}
	if (ageMs >= patienceMs)
		return { ...failed, status: 'FAILED', error: `Given up after many attempts: ${error}` }
	if (outcome.kind === 'UNAVAILABLE') return { ...failed, status: 'PENDING' }
	const dueInMs =
		outcome.retryAfterMs ??
		(mail.attempt === 1 ? firstDeferralMs : backoff(laterDeferralMs, mail.attempt - 1))
	return { ...failed, status: 'PENDING', dueInMs }
}

const backoff = (firstMs: number, attempt: number) =>
	Math.min(firstMs * 2 ** (attempt - 1), longestDeferralMs)

/** Loads the campaign sources of the mails that belong to campaigns, by mail. */
export async function loadSources(pool: Pool, mails: OpenMail[]) {
	const theirs = mails.filter((mail) => mail.source_type === 'CAMPAIGN').map(({ id }) => id)
	if (theirs.length === 0) return new Map<string, CampaignMail>()
	const sources = await campaignMails(pool, { projectId: mails[0]!.project_id, emailIds: theirs })
	return new Map(sources.map((source) => [source.id, source]))
}

/** Loads the attachments by request: all mails of a request share them. */
export async function loadAttachments(pool: Pool, mails: OpenMail[]) {
	const requests = new Set(mails.flatMap((m) => (m.has_attachments ? (m.request_id ?? []) : [])))
	const byRequest = new Map<string, Attachment[]>()
	if (requests.size === 0) return byRequest
	for (const row of await attachmentsOf(pool, {
		projectId: mails[0]!.project_id,
		requestIds: [...requests],
	})) {
		const files = byRequest.get(row.request_id) ?? []
		files.push(fileOf(row))
		byRequest.set(row.request_id, files)
	}
	return byRequest
}

async function completed(
	mail: OpenedMail,
	source: CampaignMail,
	publicUrl: string,
): Promise<OpenedMail> {
	const rendered = await perform(mail.project_id, 'campaignMail', {
		source: { ...source, email: mail.to },
		publicUrl,
	})
	const { subject, body, locale } = rendered
	return {
		...mail,
		subject,
		body,
		language: languageFor(locale, mail.language),
		postal_address: source.postal_address,
	}
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
	contentLanguage: row.content_language,
	language: row.language,
	postalAddress: row.postal_address,
	type: row.type,
	isCampaign: row.campaign_id !== null,
	createdAt: row.created_at,
})
