import type { ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import type { Ended } from '../../db/emails/ledger.ts'
import type { Message } from '../../mail/message.ts'
import { mayBeTaken, type Outcome } from '../../outside/providers/provider.ts'
import { attemptEnd } from '../delivery/attempt-end.ts'
import { wait } from '../delivery/moments.ts'
import type { Slots } from '../delivery/slots.ts'
import { unmade } from '../delivery/unmade.ts'
import { messageBytes } from './campaign-contents.ts'
import { ownSubject, recipientOf } from './campaign-handover.ts'
import type { createPlaces } from './campaign-queues.ts'
import { countSettled, type Turn } from './campaign-turn.ts'

/** A lane's batches under way at once: while one is being claimed or recorded, another is handed over. */
export const batchesAtOnce = 2
/** The most mails that a provider accepts in one batch. */
const batchMails = 100
/** Mails that together have this size go in a request of their own: until the answer they are all in memory. */
const batchBytes = 4 * 2 ** 20

/**
 * A batch has a place from before its mails are claimed until they are recorded. A killed worker leaves none of them in
 * doubt, because they have a key.
 */
export function slotsOfBatches(places: ReturnType<typeof createPlaces>): Slots {
	let granted = 0
	return {
		async enter(_project, wanted) {
			await places.enter()
			granted = wanted
			return wanted
		},
		giveBack(_project, slots) {
			const isUnused = slots === granted
			if (isUnused) places.leave()
		},
		answered() {},
		recorded: () => places.leave(),
	}
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
 * Mails that are large together go in parts, one after the other. The key of a full part names its mails, so that
 * a repeat of the batch, or of what is left of it, makes the same parts with the same keys.
 */
export async function handBatch(
	turn: Turn,
	mails: ClaimedMail[],
	batchId: string,
	isRepeat: boolean,
): Promise<Ended[]> {
	const { services, campaign } = turn
	const ended: Ended[] = []
	const rest = [...mails]
	while (rest.length > 0) {
		const part = await composePart(turn, rest, isRepeat)
		if (!part) break
		const { made, isFull } = part
		const messages = made.map(({ message }) => message)
		if (messages.length === 0) continue
		const startedAt = performance.now()
		const key = isFull ? `${batchId}/${messages[0]!.emailId}/${messages.length}` : batchId
		const outcomes = await services.provider.deliverBatch!(messages, key)
		heedAll(turn, outcomes, startedAt)
		for (const [index, { mail, subject, fault }] of made.entries()) {
			const outcome = outcomes[index]!
			if (isRepeat ? isRefusal(outcome) : isUndecided(outcome)) continue
			const end = attemptEnd(services, mail, outcome)
			ended.push({ end, subject: ownSubject(campaign, subject), fault })
		}
		// What is left stays open, and is handed over under its keys later.
		if (outcomes.some(isRefusal)) break
	}
	return ended
}

/**
 * Takes the next mails and composes them, until they are large together. A mail that can't be composed leaves the batch
 * before the others are handed over, or, of a repeat, the batch waits for it: otherwise a later repeat would contain it,
 * and would be told that its key has been used. Null: the batch waits.
 */
async function composePart(turn: Turn, rest: ClaimedMail[], isRepeat: boolean) {
	const { services, lane } = turn
	const made: { mail: ClaimedMail; message: Message; subject: string; fault: string | null }[] = []
	const left: Ended[] = []
	let bytes = 0
	while (rest.length > 0 && bytes < batchBytes) {
		const mail = rest.shift()!
		const one = await compose(turn, mail)
		if ('outcome' in one) left.push({ end: attemptEnd(services, mail, one.outcome) })
		else {
			const { message, subject, fault } = one
			made.push({ mail, message, subject, fault })
			bytes += messageBytes(message)
		}
	}
	if (isRepeat && left.some(({ end }) => end.status === 'PENDING')) {
		await wait(composeAgainMs, services.stopping)
		return null
	}
	if (left.length > 0) {
		await turn.shared.record(lane.projectId, left, false)
		countSettled(turn, left)
	}
	return { made, isFull: bytes >= batchBytes }
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
