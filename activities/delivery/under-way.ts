/** The hand-overs that a run has under way, of single mails or batches. */
export interface UnderWay<Mail extends { id: string }> {
	mails: ReadonlyMap<string, Mail>
	/** The hand-overs that have not ended; a batch counts as one. */
	count(): number
	/** Starts to hand these mails over. Resolves even if the work fails, which ends the run. */
	start(mails: Mail[], work: () => Promise<void>): Promise<void>
	hasFailed(): boolean
	/** Resolves when the next hand-over has ended. */
	oneEnd(): Promise<void>
	/** Waits for all hand-overs. A run must not end before them: their outcomes would be lost. */
	allEnd(): Promise<void>
	throwFailure(): void
}

/** `inHand`: the ids of all mails that this process is handing over. */
export function createUnderWay<Mail extends { id: string }>(inHand: Set<string>): UnderWay<Mail> {
	const underWay = new Map<string, Mail>()
	let count = 0
	/** Only while somebody waits. */
	let ended: PromiseWithResolvers<void> | undefined
	let failure: { error: unknown } | undefined

	async function start(mails: Mail[], work: () => Promise<void>) {
		count += 1
		for (const mail of mails) {
			underWay.set(mail.id, mail)
			inHand.add(mail.id)
		}
		try {
			await work()
		} catch (error) {
			failure = { error }
		} finally {
			for (const { id } of mails) {
				underWay.delete(id)
				inHand.delete(id)
			}
			count -= 1
			ended?.resolve()
			ended = undefined
		}
	}

	const oneEnd = () => (ended ??= Promise.withResolvers()).promise

	return {
		mails: underWay,
		start,
		count: () => count,
		hasFailed: () => failure !== undefined,
		oneEnd,
		async allEnd() {
			while (count > 0) await oneEnd()
		},
		throwFailure() {
			if (failure) throw failure.error
		},
	}
}
