/**
 * Limits the mails that a process has opened and not recorded yet. If it is killed, all of them are in
 * doubt.
 */
export interface Slots {
	/** Waits for its turn, then grants at least one slot and at most `wanted`. */
	enter(project: string, wanted: number): Promise<number>
	/** Returns slots for which no mail was opened. */
	giveBack(project: string, slots: number): void
	/** The provider has answered for this many mails. */
	answered(project: string, mails: number): void
	/** The outcomes of this many mails are in the ledger. */
	recorded(project: string, mails: number): void
}
