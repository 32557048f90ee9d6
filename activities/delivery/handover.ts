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
import { mayBeTaken, type Outcome, type Provider } from '../providers/provider.ts'
import type { DkimKey } from '../rendering/dkim.ts'
import { languageFor } from '../rendering/language.ts'
import type { Attachment, Message } from '../rendering/message.ts'
import { perform } from '../rendering/rendering.ts'
import { storableText } from '../rendering/storable-text.ts'
import type { ProviderPause } from './provider-pause.ts'

export interface HandoverServices {
	provider: Provider
	pause: ProviderPause
	settings: { publicUrl: string; patienceMs: number; trackingKey: Buffer }
}

/** What a mail is made of beside its own row. */
interface Contents {
	attachments: Attachment[]
	/** Of a campaign's mail: its subject and body are still to be rendered. */
	source: CampaignMail | undefined
}

const keyLifeMs = keyLifeHours * 3_600_000
/** Some servers refuse everybody's first try, and somebody may be waiting for this mail. */
const firstDeferralMs = 5000
const laterDeferralMs = 30_000
const longestDeferralMs = 3_600_000

/** Puts one opened mail together, hands it over, and says what the ledger is to remember of it. */
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
			// A mail that cannot be put together will not be the next time either.
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

/** What the answer to one mail says about the provider itself. */
export function heed(
	{ provider, pause }: Pick<HandoverServices, 'provider' | 'pause'>,
	outcome: Outcome,
	startedAt: number,
) {
	if (outcome.kind === 'UNAVAILABLE')
		pause.unavailable(outcome.error, outcome.retryAfterMs, startedAt)
	else if (outcome.kind !== 'UNKNOWN') pause.available(startedAt)
	// What is asked again under its key must not be so at the speed of requests.
	else if (provider.idempotent) pause.unavailable(outcome.error, null, startedAt)
}

/** What the ledger is to remember of an attempt, and what becomes of its mail. */
export function attemptEnd(
	mail: { id: string; attempt: number; first_attempt_at: Date },
	outcome: Outcome,
	idempotent: boolean,
	patienceMs: number,
): AttemptEnd {
	const end = { id: mail.id, attempt: mail.attempt, outcome: outcome.kind, dueInMs: null }
	if (outcome.kind === 'SENT')
		return { ...end, status: 'SENT', error: null, providerMessageId: outcome.providerMessageId }
	// A provider may quote whatever it was given.
	const error = storableText(outcome.error.slice(0, 1000))
	const failed = { ...end, error, providerMessageId: null }
	if (outcome.kind === 'REJECTED')
		return { ...failed, status: outcome.bounce ? 'BOUNCED' : 'FAILED' }
	const ageMs = Date.now() - mail.first_attempt_at.getTime()
	if (mayBeTaken(outcome)) {
		// Nobody else can tell us what became of it, but asking a provider that knows our id is harmless.
		const isAnswerable = idempotent && ageMs < Math.min(patienceMs, keyLifeMs)
		const unknown = { ...failed, outcome: 'UNKNOWN' as const }
		if (!isAnswerable) return { ...unknown, status: 'UNCERTAIN' }
		if (outcome.kind === 'UNAVAILABLE') return { ...unknown, status: 'PENDING' }
		return { ...unknown, status: 'PENDING', dueInMs: backoff(1000, mail.attempt) }
	}
	if (ageMs >= patienceMs)
		return { ...failed, status: 'FAILED', error: `Given up after many tries: ${error}` }
	if (outcome.kind === 'UNAVAILABLE') return { ...failed, status: 'PENDING' }
	const dueInMs =
		outcome.retryAfterMs ??
		(mail.attempt === 1 ? firstDeferralMs : backoff(laterDeferralMs, mail.attempt - 1))
	return { ...failed, status: 'PENDING', dueInMs }
}

const backoff = (firstMs: number, attempt: number) =>
	Math.min(firstMs * 2 ** (attempt - 1), longestDeferralMs)

/** The sources of those among them that are a campaign's, by mail. */
export async function loadSources(pool: Pool, mails: OpenMail[]) {
	const theirs = mails.filter((mail) => mail.source_type === 'CAMPAIGN').map(({ id }) => id)
	if (theirs.length === 0) return new Map<string, CampaignMail>()
	const sources = await campaignMails(pool, [mails[0]!.project_id, theirs])
	return new Map(sources.map((source) => [source.id, source]))
}

/** The files of these mails, by request: the mails of one request share them. */
export async function loadAttachments(pool: Pool, mails: OpenMail[]) {
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
