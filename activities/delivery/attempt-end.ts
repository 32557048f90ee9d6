import { type AttemptEnd, keyLifeHours } from '../../db/emails/ledger.ts'
import { storableText } from '../../db/storable-text.ts'
import { mayBeTaken, type Outcome } from '../../outside/providers/provider.ts'
import type { HandoverServices } from './handover.ts'

const keyLifeMs = keyLifeHours * 3_600_000
/** Greylisting servers defer every first try, so the second one follows soon: a person may be waiting. */
const firstDeferralMs = 5000
const laterDeferralMs = 30_000
const longestDeferralMs = 3_600_000
/** At first twice the provider's pause, so that another mail shows after it whether this one is the reason. */
const firstAwayMs = 2000
const longestAwayMs = 60_000

export interface TriedMail {
	id: string
	attempt: number
	/** Since its first attempt, when this one was opened. By the database's clock: ours may be wrong. */
	tried_for_ms: number
}

/** What the ledger records about an attempt, and the mail's next status. */
export function attemptEnd(
	{ provider, settings }: Pick<HandoverServices, 'provider' | 'settings'>,
	mail: TriedMail,
	outcome: Outcome,
): AttemptEnd {
	const { patienceMs } = settings
	const end = { id: mail.id, attempt: mail.attempt, outcome: outcome.kind, dueInMs: null }
	if (outcome.kind === 'SENT')
		return { ...end, status: 'SENT', error: null, providerMessageId: outcome.providerMessageId }
	// A provider's answer may quote any text it was given.
	const error = storableText(outcome.error.slice(0, 1000))
	const failed = { ...end, error, providerMessageId: null }
	if (outcome.kind === 'REJECTED')
		return { ...failed, status: outcome.bounce ? 'BOUNCED' : 'FAILED' }
	if (mayBeTaken(outcome)) {
		// Only the provider knows what became of the mail. A repeat is harmless if the provider knows our id.
		const isAnswerable = provider.idempotent && mail.tried_for_ms < Math.min(patienceMs, keyLifeMs)
		const unknown = { ...failed, outcome: 'UNKNOWN' as const }
		if (!isAnswerable) return { ...unknown, status: 'UNCERTAIN' }
		const dueInMs = outcome.kind === 'UNAVAILABLE' ? awayMs(mail) : backoff(1000, mail.attempt)
		return { ...unknown, status: 'PENDING', dueInMs }
	}
	if (mail.tried_for_ms >= patienceMs && mail.attempt >= fewestTries(patienceMs))
		return { ...failed, status: 'FAILED', error: `Given up after many attempts: ${error}` }
	if (outcome.kind === 'UNAVAILABLE') return { ...failed, status: 'PENDING', dueInMs: awayMs(mail) }
	const dueInMs =
		outcome.retryAfterMs ??
		(mail.attempt === 1 ? firstDeferralMs : backoff(laterDeferralMs, mail.attempt - 1))
	return { ...failed, status: 'PENDING', dueInMs }
}

/** A mail that was taken back before the hand-over. It is tried again once its campaign may be sent. */
export const withdrawnEnd = ({ id, attempt }: TriedMail): AttemptEnd => ({
	id,
	attempt,
	outcome: 'UNAVAILABLE',
	status: 'PENDING',
	error:
		'Taken back before the hand-over: its campaign was paused or cancelled, or its project disabled',
	providerMessageId: null,
	dueInMs: null,
})

/**
 * Those of an hour: after a long pause or outage, the time alone would give up mails that were hardly tried.
 */
function fewestTries(patienceMs: number) {
	let tries = 1
	for (let ms = firstDeferralMs; ms < Math.min(patienceMs, longestDeferralMs); tries += 1)
		ms += backoff(laterDeferralMs, tries)
	return tries
}

const awayMs = ({ attempt }: TriedMail) => Math.min(backoff(firstAwayMs, attempt), longestAwayMs)

const backoff = (firstMs: number, attempt: number) =>
	Math.min(firstMs * 2 ** (attempt - 1), longestDeferralMs)
