import type { Pool } from 'pg'
import type { Ended } from '../../db/emails/ledger.ts'
import type { Outcome, Provider } from '../../outside/providers/provider.ts'
import { attemptEnd } from './attempt-end.ts'
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
	deliver(begins: () => void): Promise<Outcome>
	/** Of a campaign's mail: its subject if it differs from the campaign's, and any fault in rendering. */
	subject?: string | null
	fault?: string | null
}

/** Composes an opened mail, hands it over and returns what the ledger records. */
export async function handOver(
	{ provider, pause, settings }: HandoverServices,
	mail: { id: string; attempt: number; first_attempt_at: Date },
	compose: () => Promise<Made>,
): Promise<Ended> {
	const ended = (outcome: Outcome, made: Omit<Made, 'deliver'> = {}) => ({
		end: attemptEnd(mail, outcome, provider.idempotent, settings.patienceMs),
		subject: made.subject ?? null,
		fault: made.fault ?? null,
	})
	let made: Made
	try {
		made = await compose()
	} catch (error) {
		return ended(unmade(error))
	}
	let startedAt = performance.now()
	const outcome = await made.deliver(() => (startedAt = performance.now()))
	heed(outcome, startedAt)
	return ended(outcome, made)

	/** Updates the provider's pause by the answer to one mail. */
	function heed(answer: Outcome, askedAt: number) {
		if (answer.kind === 'UNAVAILABLE') pause.unavailable(answer.error, answer.retryAfterMs, askedAt)
		else if (answer.kind !== 'UNKNOWN') pause.available(askedAt)
		// The mail is repeated under its key. The pause keeps the repeats from following each other at once.
		else if (provider.idempotent) pause.unavailable(answer.error, null, askedAt)
	}
}
