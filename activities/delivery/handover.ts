import type { Pool } from 'pg'
import type { CampaignMail } from '../../db/campaigns/campaign-mail.ts'
import { type AttemptEnd, keyLifeHours, type OpenedMail } from '../../db/emails/ledger.ts'
import { storableText } from '../../db/storable-text.ts'
import { languageFor } from '../../mail/language.ts'
import type { Attachment } from '../../mail/message.ts'
import { type DkimKey, isUnusableKey } from '../../mail/mime/dkim.ts'
import { perform } from '../../mail/rendering.ts'
import { ThreadLost } from '../../mail/threads/pool.ts'
import { mayBeTaken, type Outcome, type Provider } from '../../outside/providers/provider.ts'
import { mailOf, trackingOf } from './contents.ts'
import { isNotLoaded } from './large-mail-tasks.ts'
import { encodeLarge } from './large-mails.ts'
import type { ProviderPause } from './provider-pause.ts'

export interface HandoverServices {
	pool: Pool
	provider: Provider
	pause: ProviderPause
	settings: { publicUrl: string; patienceMs: number; trackingKey: Buffer }
}

/** The parts of a mail that are not in its own row. */
interface Contents {
	/** Then a thread loads its body and attachments. */
	isLarge: boolean
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
	services: HandoverServices,
	mail: OpenedMail,
	contents: Contents,
	dkim: DkimKey | undefined,
): Promise<AttemptEnd> {
	const { provider, settings } = services
	const outcome = await attempt()
	return attemptEnd(mail, outcome, provider.idempotent, settings.patienceMs)

	async function attempt(): Promise<Outcome> {
		let deliver: () => Promise<Outcome>
		try {
			deliver = await composed(services, mail, contents, dkim)
		} catch (error) {
			return unmade(error)
		}
		const startedAt = performance.now()
		const answer = await deliver()
		heed(services, answer, startedAt)
		return answer
	}
}

/** Composes a mail. The result hands it over. */
async function composed(
	{ pool, provider, settings }: HandoverServices,
	mail: OpenedMail,
	{ isLarge, attachments, source }: Contents,
	dkim: DkimKey | undefined,
): Promise<() => Promise<Outcome>> {
	const { publicUrl, trackingKey } = settings
	const tracking = trackingOf(mail, trackingKey)
	if (isLarge) {
		const { encoding } = provider
		const encoded = await encodeLarge(pool, { mail, publicUrl, tracking, encoding, dkim })
		return () => provider.deliverEncoded(encoded)
	}
	const whole = source ? await completed(mail, source, publicUrl) : mail
	const input = { mail: mailOf(whole), publicUrl, tracking }
	const message = { ...(await perform(mail.project_id, 'compose', input)), attachments }
	return () => provider.deliver(message, dkim)
}

function unmade(error: unknown): Outcome {
	// Nothing was handed over, and the next try may succeed.
	if (error instanceof ThreadLost || isNotLoaded(error) || isUnusableKey(error))
		return { kind: 'DEFERRED', error: (error as Error).message, retryAfterMs: null }
	// Composing this mail would fail again.
	return {
		kind: 'REJECTED',
		error: `The mail could not be composed: ${String(error)}`,
		bounce: false,
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
