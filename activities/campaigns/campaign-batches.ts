import type { ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import type { Ended } from '../../db/emails/ledger.ts'
import { mayBeTaken, type Outcome } from '../../outside/providers/provider.ts'
import { attemptEnd } from '../delivery/attempt-end.ts'
import { wait } from '../delivery/moments.ts'
import type { Slots } from '../delivery/slots.ts'
import { unmade } from '../delivery/unmade.ts'
import { ownSubject, recipientOf } from './campaign-handover.ts'
import { countSettled, type Turn } from './campaign-turn.ts'

/** A lane's batches under way at once: while one is being claimed or recorded, another is handed over. */
export const batchesAtOnce = 2
/** The most mails that a provider accepts in one batch. */
const batchMails = 100
/**
 * The size limit of a batch. All its mails, in HTML and text, stay in memory until the provider answers.
 */
const batchBytes = 4 * 2 ** 20

/** Batches need no slots: a killed worker leaves none of them in doubt, because they have a key. */
export const slotsOfBatches: Slots = {
	enter: (_project, wanted) => Promise.resolve(wanted),
	giveBack() {},
	answered() {},
	recorded() {},
}

export function mailsInBatch(body: string) {
	const fitting = Math.floor(batchBytes / (2 * Buffer.byteLength(body) + 1))
	return Math.min(batchMails, Math.max(1, fitting))
}

/** A repeat that can't be composed is tried again after this time. */
const composeAgainMs = 1000

/**
 * Hands a batch over under its key. The result leaves out mails that the provider may have taken: they
 * stay open and are repeated under the same key. The refusal of a repeat says nothing about the earlier try, so only
 * a repeat that is answered ends one.
 *
 * A mail that can't be composed leaves the batch before the others are handed over, or, of a repeat, the batch waits
 * for it: otherwise a later repeat would contain it, and would be told that its key has been used.
 */
export async function handBatch(
	turn: Turn,
	mails: ClaimedMail[],
	batchId: string,
	isRepeat: boolean,
): Promise<Ended[]> {
	const { services, campaign } = turn
	const made = await Promise.all(mails.map((mail) => compose(turn, mail)))
	const messages = made.flatMap((one) => ('message' in one ? one.message : []))
	const left = mails.flatMap((mail, index) => {
		const one = made[index]!
		return 'outcome' in one ? { end: attemptEnd(services, mail, one.outcome) } : []
	})
	if (isRepeat && left.some(({ end }) => end.status === 'PENDING')) {
		await wait(composeAgainMs, services.stopping)
		return []
	}
	if (left.length > 0) {
		await turn.shared.record(turn.lane.projectId, left, false)
		countSettled(turn, left)
	}
	const startedAt = performance.now()
	const outcomes = await services.provider.deliverBatch!(messages, batchId)
	heedAll(turn, outcomes, startedAt)
	const answers = outcomes.values()
	return mails.flatMap((mail, index) => {
		const one = made[index]!
		if ('outcome' in one) return []
		const outcome = answers.next().value!
		if (isRepeat ? isRefusal(outcome) : isUndecided(outcome)) return []
		const end = attemptEnd(services, mail, outcome)
		return { end, subject: ownSubject(campaign, one.subject), fault: one.fault }
	})
}

async function compose({ texts }: Turn, mail: ClaimedMail) {
	try {
		return await texts.message(recipientOf(mail))
	} catch (error) {
		return { outcome: unmade(error) }
	}
}

/** A batch is repeated as a whole. The pause keeps the repeats from following each other at once. */
function heedAll({ services: { pause } }: Turn, outcomes: Outcome[], startedAt: number) {
	const refusal = outcomes.find(isRefusal)
	if (refusal) {
		const retryAfterMs = refusal.kind === 'UNKNOWN' ? null : refusal.retryAfterMs
		pause.unavailable(refusal.error, retryAfterMs, startedAt)
	} else if (outcomes.length > 0) pause.available(startedAt)
}

const isRefusal = (outcome: Outcome) => outcome.kind !== 'SENT' && outcome.kind !== 'REJECTED'

/** The provider may have the batch; only a repeat under its key can tell. */
const isUndecided = (outcome: Outcome) => outcome.kind === 'DEFERRED' || mayBeTaken(outcome)
