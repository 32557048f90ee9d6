import type { Ended } from '../../db/emails/ledger.ts'
import type { Slots } from './slots.ts'
import type { UnderWay } from './under-way.ts'

/** Where the mails of a delivery come from: a claim of single mails, or a lane of a campaign. */
export interface Source {
	projectId: string
	/** The mails of this source that are being handed over. */
	underWay: UnderWay<{ id: string }>
	/** Limits the mails under way in the whole process. */
	slots: Slots
	/** The most hand-overs of this source under way. */
	mostAtOnce: number
	/** After this it makes way for others: its workflow starts another turn. */
	longestTurnMs: number
	/** A longer wait belongs to the workflow. */
	longestWaitMs: number
	/** Takes over what a lost worker left. */
	adopt(): Promise<void>
	/** Reserves send rate, and returns the number of mails that may be opened now, at most `most`. */
	ready(most: number): Promise<number>
	/** Opens attempts for up to `count` of the mails that are ready, and settles those that may not be sent. */
	open(count: number): Promise<HandOver[]>
	/**
	 * Records ended attempts. `alone`: no other hand-over is under way that could share the statement.
	 */
	record(ended: Ended[], alone: boolean): Promise<void>
	/** These attempts are in the ledger. */
	recorded(ended: Ended[]): void
	/** No mail is ready. Returns the time until one is, or null after a short wait or if nothing is left. */
	lookAround(): Promise<Wait | null>
	/** The number of mails that this turn has settled, with any outcome, and of those that are left. */
	progress(): { settled: number; left: number }
}

/** Mails that are handed over together: one, or a batch. */
export interface HandOver {
	mails: { id: string }[]
	/** Hands them over. The result leaves out mails that stay open. */
	run(): Promise<Ended[]>
}

export interface Wait {
	waitMs: number
	because: string
}
