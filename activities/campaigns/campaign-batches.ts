import type { ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import type { Ended } from '../../db/emails/ledger.ts'
import type { Message } from '../../mail/message.ts'
import { mayBeTaken, type Outcome } from '../../outside/providers/provider.ts'
import { attemptEnd } from '../delivery/attempt-end.ts'
import type { HandoverServices } from '../delivery/handover.ts'
import type { Slots } from '../delivery/slots.ts'
import { unmade } from '../delivery/unmade.ts'
import type { CampaignTexts } from './campaign-contents.ts'
import { ownSubject, recipientOf, type Slice } from './campaign-handover.ts'

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

/**
 * Hands a batch over under its key. The result leaves out mails that the provider may have taken: they
 * stay open and are repeated under the same key.
 */
export async function handBatch(
	{ provider, pause, settings }: HandoverServices,
	{ campaign, texts }: Omit<Slice, 'dkim'>,
	mails: ClaimedMail[],
	batchId: string,
): Promise<Ended[]> {
	const composed = await Promise.all(
		mails.map(async (mail) => ({ mail, ...(await composedOf(texts, mail)) })),
	)
	const good = composed.filter((one) => 'message' in one)
	const startedAt = performance.now()
	const outcomes = await provider.deliverBatch!(
		good.map(({ message }) => message),
		batchId,
	)
	// A batch is repeated as a whole. The pause keeps the repeats from following each other at once.
	const refusal = outcomes.find(isRefusal)
	if (refusal) {
		const retryAfterMs = refusal.kind === 'UNKNOWN' ? null : refusal.retryAfterMs
		pause.unavailable(refusal.error, retryAfterMs, startedAt)
	} else if (outcomes.length > 0) pause.available(startedAt)
	const outcomeOf = new Map(good.map(({ mail }, index) => [mail, outcomes[index]!]))
	return composed.flatMap(({ mail, ...one }) => {
		const outcome = 'message' in one ? outcomeOf.get(mail)! : one.outcome
		if (isUndecided(outcome)) return []
		const end = attemptEnd(mail, outcome, provider.idempotent, settings.patienceMs)
		if (!('message' in one)) return { end }
		return { end, subject: ownSubject(campaign, one.subject), fault: one.fault }
	})
}

/** The provider may have the batch; only a repeat under its key can tell. */
const isUndecided = (outcome: Outcome) => outcome.kind === 'DEFERRED' || mayBeTaken(outcome)

const isRefusal = (outcome: Outcome) => outcome.kind !== 'SENT' && outcome.kind !== 'REJECTED'

async function composedOf(
	texts: CampaignTexts,
	mail: ClaimedMail,
): Promise<{ message: Message; subject: string; fault: string | null } | { outcome: Outcome }> {
	try {
		return await texts.message(recipientOf(mail))
	} catch (error) {
		return { outcome: unmade(error) }
	}
}
