import { longestInlineWaitMs } from '../delivery/moments.ts'
import type { Source } from '../delivery/source.ts'
import { adopt } from './campaign-adoption.ts'
import { batchesAtOnce, mailsInBatch, slotsOfBatches } from './campaign-batches.ts'
import { openAgain, openNext } from './campaign-claims.ts'
import { lookAround } from './campaign-end.ts'
import { payFor } from './campaign-rate.ts'
import { countSettled, nameOf, type Turn } from './campaign-turn.ts'

/** After this a lane makes way for a lane of another campaign. */
const longestTurnMs = 20_000
/** The most mails that one statement claims, however many slots are free. */
const mostClaimed = 300

/** A turn of a campaign's lane as a source of mails. */
export function campaignSource(turn: Turn): Source {
	const { lane, campaign, texts, shared, underWay, usesBatches } = turn
	const mostAtATime = () =>
		usesBatches ? mailsInBatch(campaign.body, texts.expectedSize()) : mostClaimed
	return {
		projectId: lane.projectId,
		underWay,
		slots: usesBatches ? slotsOfBatches(shared.batches, lane.projectId) : shared.slots,
		mostAtOnce: usesBatches ? batchesAtOnce : Infinity,
		longestTurnMs,
		longestWaitMs: longestInlineWaitMs,
		record: (ended, alone) => shared.record(lane.projectId, ended, alone),
		async adopt() {
			if (!shared.adopted.has(nameOf(lane))) await adopt(turn)
			shared.adopted.add(nameOf(lane))
		},
		async ready(most) {
			if (turn.isAtEnd || texts.isTooSlow() || turn.withdrawal.signal.aborted) return 0
			return turn.lostBatches.length > 0 ? 1 : payFor(turn, Math.min(most, mostAtATime()))
		},
		open(count) {
			const lost = turn.lostBatches.shift()
			return lost ? openAgain(turn, ...lost) : openNext(turn, count)
		},
		recorded: (ended) => countSettled(turn, ended),
		lookAround: () => lookAround(turn),
		progress: () => ({ settled: turn.settled, left: turn.left }),
	}
}
