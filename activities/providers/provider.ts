import type { DkimKey } from '../rendering/dkim.ts'
import type { Message } from '../rendering/message.ts'

/** What became of one hand-over, in the terms that the ledger needs to decide what is next. */
export type Outcome =
	/** The provider took it. */
	| { kind: 'SENT'; providerMessageId: string | null }
	/** This mail will never be taken; `bounce` when the refusal is about the recipient's address. */
	| { kind: 'REJECTED'; error: string; bounce: boolean }
	/** Surely not taken, and only this mail is concerned: try it again later. */
	| { kind: 'DEFERRED'; error: string; retryAfterMs: number | null }
	/**
	 * Not taken, and the next mail would not be either: throttled, unreachable, refused login. Surely so,
	 * unless it `mayBeTaken` and was handed over under a key, which makes a repeat with it harmless.
	 */
	| { kind: 'UNAVAILABLE'; error: string; retryAfterMs: number | null; mayBeTaken?: true }
	/** Perhaps taken, perhaps not: the connection went away between the hand-over and the answer. */
	| { kind: 'UNKNOWN'; error: string }

type Unsure =
	| Extract<Outcome, { kind: 'UNKNOWN' }>
	| (Extract<Outcome, { kind: 'UNAVAILABLE' }> & { mayBeTaken: true })

/** Then only evidence can tell, or the provider itself, by its key. */
export const mayBeTaken = (outcome: Outcome): outcome is Unsure =>
	outcome.kind === 'UNKNOWN' || (outcome.kind === 'UNAVAILABLE' && outcome.mayBeTaken === true)

/** A mail of a campaign, ready for the wire. */
export interface ReadyMail {
	from: string
	to: string
	/** One character a byte, no line beginning with a dot. Put together when its turn comes, if it need not be signed. */
	raw(): string
}

/** The narrow door to the world. `deliver` never throws: whatever happens is an Outcome. */
export interface Provider {
	name: 'local' | 'smtp' | 'resend'
	/** Whether handing the same emailId over again is harmless (Resend's idempotency key). */
	idempotent: boolean
	/** How many hand-overs may be under way at once. */
	concurrency: number
	deliver(message: Message, dkim?: DkimKey): Promise<Outcome>
	/**
	 * For campaign mail: the same as `deliver`, at a fraction of the cost, and behind it whenever there
	 * is not enough room for both.
	 */
	deliverReady?(mail: ReadyMail): Promise<Outcome>
	/** For sets of campaign mail, where the provider has something better than one by one. */
	deliverBatch?(messages: Message[], idempotencyKey: string): Promise<Outcome[]>
	close(): Promise<void>
}
