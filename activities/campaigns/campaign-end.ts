import {
	birthsInLane,
	restOfLane,
	setDue,
	waitingInLane,
} from '../../db/campaigns/campaign-ledger.ts'
import { longestInlineWaitMs, napMs, wait } from '../delivery/moments.ts'
import type { Wait } from '../delivery/source.ts'
import { adopt } from './campaign-adoption.ts'
import { nameOf, rangeOf, type Turn } from './campaign-turn.ts'

/** How often a lane looks for contacts while the audience is being frozen. */
const lookMs = 20
/** After looking for this long, the lane makes way for others. Its next turn begins after the same time. */
const freezingMs = 2000

/** At the end of the lane: finds out what is left and when it can be sent. null: continue. */
export async function lookAround(turn: Turn): Promise<Wait | null> {
	const { services, lane, campaign, texts, shared, underWay } = turn
	const { stopping } = services
	turn.isAtEnd = false
	if (texts.isTooSlow()) return { waitMs: 0, because: 'the template takes too long' }
	await underWay.allEnd()
	if (underWay.hasFailed()) return null
	const isWithdrawn = turn.withdrawal.signal.aborted
	if (turn.hasPages && !isWithdrawn) {
		const end = await untilBirths(turn)
		if (end || turn.hasPages) return end
	}
	const { may_send, pending, sending, to_come, due_in_ms, answer } = await restOf(turn)
	const areOurs = sending > 0 && (await adopt(turn))
	turn.left = pending + sending + to_come
	if (turn.left === 0) {
		shared.adopted.delete(nameOf(lane))
		return null
	}
	if (!may_send || isWithdrawn) return { waitMs: 0, because: 'paused' }
	turn.hasPages = to_come > 0
	turn.cursor = campaign.after
	if (areOurs) await wait(napMs, stopping)
	if (sending > 0 || turn.hasPages || due_in_ms <= 0) return null
	if (due_in_ms > longestInlineWaitMs)
		return { waitMs: due_in_ms, because: answer ?? 'not due yet' }
	await wait(Math.max(due_in_ms, napMs), stopping)
	return null
}

/**
 * What is left of the lane. Reads all its mails only when none waits for another try, or, once in a turn, when
 * a lost worker may have left mails in hand.
 */
async function restOf(turn: Turn) {
	const { pool } = turn.services
	const [waiting] = await waitingInLane(pool, rangeOf(turn))
	if (waiting!.pending > 0 && (turn.hasReadAll || waiting!.in_hand === 0)) return waiting!
	turn.hasReadAll = true
	const [rest] = await restOfLane(pool, rangeOf(turn))
	if (rest!.pending > waiting!.pending) await setDue(pool, rangeOf(turn))
	return rest!
}

/** Waits until mails of the lane can be born, or never will be: then `hasPages` becomes false. */
async function untilBirths(turn: Turn): Promise<Wait | null> {
	const { pool, stopping } = turn.services
	const endsAt = performance.now() + freezingMs
	for (;;) {
		const [births] = await birthsInLane(pool, rangeOf(turn))
		if (!births?.may_send || (births.is_frozen && !births.has_pages)) {
			turn.hasPages = false
			return null
		}
		// Another worker may hold the page, so this does not ask again at once.
		await wait(lookMs, stopping)
		if (births.has_pages) return null
		if (stopping.aborted || performance.now() > endsAt)
			return { waitMs: freezingMs, because: 'the audience is being frozen' }
	}
}
