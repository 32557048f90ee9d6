import type { DkimKey } from '../../mail/mime/dkim.ts'
import type { EncodedMail, Encoding } from '../../mail/encoding.ts'
import type { Message } from '../../mail/message.ts'

/** The result of one hand-over, in the terms that the ledger needs for its next step. */
export type Outcome =
	/** The provider accepted it. */
	| {
			kind: 'SENT'
			providerMessageId: string | null
			/** The server's answers to copies that it refused, by address. Absent: none. */
			refusedCopies?: Record<string, string>
	  }
	/** This mail will never be accepted; `bounce` if the refusal concerns the recipient's address. */
	| { kind: 'REJECTED'; error: string; bounce: boolean }
	/** Certainly not accepted, and only this mail is affected: try it again later. */
	| { kind: 'DEFERRED'; error: string; retryAfterMs: number | null }
	/**
	 * Not accepted, and the next mail would not be either: throttled, unreachable, login refused. This is
	 * certain, unless it `mayBeTaken` and was handed over under a key; then a repeat with the key is
	 * harmless.
	 */
	| { kind: 'UNAVAILABLE'; error: string; retryAfterMs: number | null; mayBeTaken?: true }
	/** Perhaps accepted, perhaps not: the connection was lost between the hand-over and the answer. */
	| { kind: 'UNKNOWN'; error: string }

type Unsure =
	| Extract<Outcome, { kind: 'UNKNOWN' }>
	| (Extract<Outcome, { kind: 'UNAVAILABLE' }> & { mayBeTaken: true })

/** Then only evidence can tell, or the provider itself through the key. */
export const mayBeTaken = (outcome: Outcome): outcome is Unsure =>
	outcome.kind === 'UNKNOWN' || (outcome.kind === 'UNAVAILABLE' && outcome.mayBeTaken === true)

/** Its content has not left. */
export interface Withdrawn {
	kind: 'WITHDRAWN'
}
export const withdrawn: Withdrawn = { kind: 'WITHDRAWN' }

/** A mail of a campaign, ready for the wire. */
export interface ReadyMail {
	from: string
	to: string
	/**
	 * One character per byte, no line starting with a dot. Assembled when its turn comes, if it needs no
	 * signature.
	 */
	raw(): string
	/** Aborted: it must not leave any more. One signal for many mails. */
	withdrawal: AbortSignal
}

/** The interface to all mail providers. No delivery throws: every result is an Outcome. */
export interface Provider {
	name: 'local' | 'smtp' | 'resend'
	/** Whether handing the same emailId over again is harmless (Resend's idempotency key). */
	idempotent: boolean
	/** The most hand-overs that may be under way at once. */
	concurrency: number
	deliver(message: Message, dkim?: DkimKey): Promise<Outcome>
	/** The form of mails for `deliverEncoded`. */
	encoding: Encoding
	/** `deliver` for a mail that was encoded before: a large one, which a thread encodes. */
	deliverEncoded(mail: EncodedMail): Promise<Outcome>
	/**
	 * For campaign mail: does the same as `deliver` at a fraction of the cost, and gives way to it when
	 * connections are scarce.
	 */
	deliverReady?(mail: ReadyMail): Promise<Outcome | Withdrawn>
	/** For sets of campaign mail, if the provider accepts batches. */
	deliverBatch?(messages: Message[], idempotencyKey: string): Promise<Outcome[]>
	close(): Promise<void>
}
