import type { ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import type { AttemptEnd, Ended } from '../../db/emails/ledger.ts'
import type { Message } from '../../mail/message.ts'
import { mayBeTaken, type Outcome } from '../../outside/providers/provider.ts'
import { attemptEnd } from '../delivery/attempt-end.ts'
import type { Places } from '../delivery/gate.ts'
import { wait } from '../delivery/moments.ts'
import type { Slots } from '../delivery/slots.ts'
import { unmade } from '../delivery/unmade.ts'
import { messageLength } from './campaign-contents.ts'
import { ownSubject, recipientOf } from './campaign-handover.ts'
import { countSettled, nameOf, type Turn } from './campaign-turn.ts'

/** A lane's batches under way at once: while one is being claimed or recorded, another is handed over. */
export const batchesAtOnce = 2
/** The most mails that a provider accepts in one batch. */
const batchMails = 100
/** The size limit of a batch. All its mails, in HTML and text, stay in memory until the provider answers. */
const batchBytes = 4 * 2 ** 20

/**
 * A batch has a place from before its mails are claimed until they are recorded. A killed worker leaves none of them in
 * doubt, because they have a key.
 */
export function slotsOfBatches(places: Places, project: string): Slots {
	let granted = 0
	return {
		async enter(_project, wanted) {
			await places.enter(project, 1)
			granted = wanted
			return wanted
		},
		giveBack(_project, slots) {
			const isUnused = slots === granted
			if (isUnused) places.leave(project, 1)
		},
		answered() {},
		recorded: () => places.leave(project, 1),
	}
}

/** `expected`: the size of a mail, as far as it is known. */
export function mailsInBatch(body: string, expected: number) {
	const fitting = Math.floor(batchBytes / Math.max(2 * Buffer.byteLength(body) + 1, expected))
	return Math.min(batchMails, Math.max(1, fitting))
}

/** A repeat that can't be composed is tried again after this time. */
const composeAgainMs = 1000

/**
 * Hands a batch over under its key. The result leaves out mails that the provider may have taken: they
 * stay open and are repeated under the same key. The refusal of a repeat says nothing about the earlier try, so only
 * a repeat that is answered ends one. Readers who may get no mail any more are left out of a repeat.
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
	const allowed = mails.filter(({ status }) => status === 'SENDING')
	const barred = mails.filter(({ status }) => status !== 'SENDING')
	const { made, left } = await composeBatch(turn, allowed, isRepeat)
	if (isRepeat && left.some(({ end }) => end.status === 'PENDING')) {
		await wait(composeAgainMs, services.stopping)
		return []
	}
	if (left.length > 0) {
		await turn.shared.record(turn.lane.projectId, left, false)
		countSettled(turn, left)
	}
	const startedAt = performance.now()
	const messages = made.map(({ message }) => message)
	const outcomes =
		messages.length > 0 ? await services.provider.deliverBatch!(messages, batchId) : []
	heedAll(turn, outcomes, startedAt)
	const ended: Ended[] = made.flatMap(({ mail, subject, fault }, index) => {
		const outcome = outcomes[index]!
		if (isRepeat ? isRefusal(outcome) : isUndecided(outcome)) return []
		const end = attemptEnd(services, mail, outcome)
		return { end, subject: ownSubject(campaign, subject), fault }
	})
	// The lane's next turn finds the others, and repeats the batch.
	if (ended.length < made.length) turn.shared.adopted.delete(nameOf(turn.lane))
	else {
		const isTakenNow = outcomes.length > 0 && !outcomes.some(isTakenBefore)
		ended.push(...barred.map((mail) => ({ end: barredEnd(mail, isTakenNow) })))
	}
	return ended
}

/**
 * Ends a mail that was left out of an answered repeat. If the provider took the repeat, it had not taken the batch before,
 * so the mail is claimed again and settled with its reason. Otherwise nobody knows.
 */
function barredEnd({ id, attempt }: ClaimedMail, isTakenNow: boolean): AttemptEnd {
	const end = { id, attempt, providerMessageId: null }
	return isTakenNow
		? {
				...end,
				outcome: 'UNAVAILABLE',
				status: 'PENDING',
				error: 'It was left out when its batch was repeated',
				dueInMs: 0,
			}
		: {
				...end,
				outcome: 'UNKNOWN',
				status: 'UNCERTAIN',
				error: 'Its batch may have been taken before its reader was suppressed or unsubscribed',
				dueInMs: null,
			}
}

/** Such an answer has no id: the provider knows the key from another request. */
const isTakenBefore = (outcome: Outcome) =>
	outcome.kind === 'SENT' && outcome.providerMessageId === null

/**
 * Composes the mails until they are large together. The others leave the batch. A repeat is never divided: it must be
 * what was handed over under its key.
 */
async function composeBatch(turn: Turn, mails: ClaimedMail[], isRepeat: boolean) {
	const made: { mail: ClaimedMail; message: Message; subject: string; fault: string | null }[] = []
	const left: Ended[] = []
	let bytes = 0
	for (const mail of mails) {
		const isFull = bytes >= batchBytes && !isRepeat
		const one = isFull ? null : await compose(turn, mail)
		if (!one) left.push({ end: ofNextBatch(mail) })
		else if ('outcome' in one) left.push({ end: attemptEnd(turn.services, mail, one.outcome) })
		else {
			const { message, subject, fault } = one
			made.push({ mail, message, subject, fault })
			bytes += messageLength(message)
		}
	}
	return { made, left }
}

const ofNextBatch = ({ id, attempt }: ClaimedMail): AttemptEnd => ({
	id,
	attempt,
	// No server has deferred it, so no delay is announced.
	outcome: 'UNAVAILABLE',
	status: 'PENDING',
	error: 'Its batch was full: the mails in it are large',
	providerMessageId: null,
	dueInMs: 0,
})

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
