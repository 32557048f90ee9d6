import type { Pool } from 'pg'
import type { Ended } from '../../db/emails/ledger.ts'
import { storableText } from '../../db/storable-text.ts'
import type { Outcome, Provider, Withdrawn } from '../../outside/providers/provider.ts'
import { attemptEnd, type TriedMail, withdrawnEnd } from './attempt-end.ts'
import type { ProviderPause } from './provider-pause.ts'
import { unmade } from './unmade.ts'

export interface HandoverServices {
	pool: Pool
	provider: Provider
	pause: ProviderPause
	settings: { publicUrl: string; patienceMs: number; trackingKey: Buffer }
}

/** A composed mail. */
export interface Made {
	/** Hands it over. Calls `begins` when the hand-over starts, if that is later. */
	deliver(begins: () => void): Promise<Outcome | Withdrawn>
	/** Of a campaign's mail: its subject if it differs from the campaign's, and any fault in rendering. */
	subject: string | null
	fault: string | null
}

/** Composes an opened mail, hands it over and returns what the ledger records. */
export async function handOver(
	services: HandoverServices,
	mail: TriedMail,
	compose: () => Promise<Made>,
): Promise<Ended> {
	let made: Made
	try {
		made = await compose()
	} catch (error) {
		return { end: attemptEnd(services, mail, unmade(error)) }
	}
	let startedAt = performance.now()
	const outcome = await made.deliver(() => (startedAt = performance.now()))
	if (outcome.kind === 'WITHDRAWN') return { end: withdrawnEnd(mail) }
	heed(services, outcome, startedAt)
	const end = attemptEnd(services, mail, outcome)
	const refusedCopies = refusalsOf(outcome)
	return { end, subject: made.subject, fault: made.fault, ...(refusedCopies && { refusedCopies }) }
}

/** Updates the provider's pause by the answer to one mail. */
function heed({ provider, pause }: HandoverServices, outcome: Outcome, startedAt: number) {
	if (outcome.kind === 'UNAVAILABLE')
		pause.unavailable(outcome.error, outcome.retryAfterMs, startedAt)
	else if (outcome.kind !== 'UNKNOWN') pause.available(startedAt)
	// The mail is repeated under its key. The pause keeps the repeats from following each other at once.
	else if (provider.idempotent) pause.unavailable(outcome.error, null, startedAt)
}

/** A server's answer may quote any text it was given. */
function refusalsOf(outcome: Outcome) {
	if (outcome.kind !== 'SENT' || !outcome.refusedCopies) return undefined
	const texts = Object.entries(outcome.refusedCopies).map(([email, answer]) => [
		email,
		storableText(answer.slice(0, 1000)),
	])
	return Object.fromEntries(texts) as Record<string, string>
}
