import { setTimeout as sleep } from 'node:timers/promises'
import { pause as pauseCampaign } from '../../db/campaigns/campaign-actions.ts'
import { birthsInLane, campaignLane, restOfLane } from '../../db/campaigns/campaign-ledger.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { type DeliveryServices, type Rest, withoutAddresses } from '../delivery/delivery.ts'
import { napMs } from '../delivery/moments.ts'
import { adopt } from './campaign-adoption.ts'
import { createCampaignContents } from './campaign-contents.ts'
import { isFull, sendSlice } from './campaign-slices.ts'
import {
	createShared,
	createTurn,
	type Lane,
	nameOf,
	rangeOf,
	type Turn,
	wait,
} from './campaign-turn.ts'

/** After this a lane makes way for a lane of another campaign. */
const longestTurnMs = 20_000
/** How often a lane looks for contacts while the audience is being frozen. */
const lookMs = 20
/** After this it makes way, for as long. */
const freezingMs = 2000
/** Longer waits belong to the workflow: there they survive this process and occupy no activity slot. */
const longestInlineWaitMs = 5000

export function campaignDeliveryActivities(services: DeliveryServices) {
	const contents = createCampaignContents(services.settings)
	const shared = createShared(services.provider.concurrency)

	return {
		/**
		 * Sends the mails of a lane for a while. Mails that are paused, cancelled or not due stay as they are.
		 * The ledger records what is done, so a second run repeats nothing, even beside a lost first run.
		 */
		sendCampaignPages: (lane: Lane): Promise<Rest> =>
			withHeartbeat(async () => {
				const { projectId, campaignId } = lane
				const [campaign] = await campaignLane(services.pool, {
					projectId,
					campaignId,
					lane: lane.lane,
				})
				if (!campaign) return { settled: 0, left: 0, waitMs: 0, because: 'no such campaign' }
				const texts = contents.of(lane, campaign)
				const rest = await sendLane(createTurn(services, lane, campaign, texts, shared))
				if (texts.isTooSlow()) {
					const taskQueue = taskQueues.core
					await pauseCampaign(services.pool, {
						projectId,
						campaignId,
						taskQueue,
						reason: 'TEMPLATE',
					})
					contents.forget(lane)
				}
				return rest
			}),
	}
}

type End = Omit<Rest, 'settled'>

async function sendLane(turn: Turn): Promise<Rest> {
	const { underWay, shared, lane } = turn
	let end: End
	try {
		if (!shared.positions.has(nameOf(lane))) await adopt(turn)
		end = await work(turn)
	} finally {
		await underWay.allEnd()
	}
	underWay.throwFailure()
	return { settled: turn.settled, ...end }
}

/** Sends slices until the turn is over, the lane is done, or the rest has a long wait. */
async function work(turn: Turn): Promise<End> {
	const { services, texts, underWay } = turn
	const { pause, stopping } = services
	const endsAt = Date.now() + longestTurnMs
	while (!underWay.hasFailed()) {
		const waitMs = pause.remainingMs()
		if (waitMs > longestInlineWaitMs) return rest(1, waitMs, pause.reason() ?? 'paused')
		if (texts.isTooSlow()) return rest(1, 0, 'the template takes too long')
		if (stopping.aborted || Date.now() > endsAt) return rest(1, 0, 'sending')
		if (waitMs > 0) await sleep(Math.min(waitMs, napMs))
		else if (isFull(turn)) await underWay.oneEnd()
		else if (!(await sendSlice(turn))) {
			await underWay.allEnd()
			const end = await lookAround(turn)
			if (end) return end
		}
	}
	return rest(1, 0, 'failed')
}

/** At the end of the lane: returns what is left and when it can be sent. null: continue. */
async function lookAround(turn: Turn): Promise<End | null> {
	const { services, lane, campaign, shared, underWay } = turn
	const { pool, stopping } = services
	if (underWay.hasFailed()) return null
	if (turn.hasPages) {
		const end = await untilBirths(turn)
		if (end || turn.hasPages) return end
	}
	const [left] = await restOfLane(pool, rangeOf(turn))
	const { may_send, pending, sending, to_come, due_in_ms, answer } = left!
	const areOurs = sending > 0 && (await adopt(turn))
	const open = pending + sending + to_come
	if (open === 0) {
		shared.positions.delete(nameOf(lane))
		return rest(0, 0, '')
	}
	if (!may_send) return rest(open, 0, 'paused')
	turn.hasPages = to_come > 0
	turn.cursor = campaign.after
	if (areOurs) await wait(napMs, stopping)
	if (sending > 0 || turn.hasPages || due_in_ms <= 0) return null
	if (due_in_ms > longestInlineWaitMs) return rest(open, due_in_ms, answer ?? 'not due yet')
	await wait(due_in_ms, stopping)
	return null
}

/** Waits until mails of the lane can be born, or none can: then the lane has no more pages. */
async function untilBirths(turn: Turn): Promise<End | null> {
	const { pool, stopping } = turn.services
	const endsAt = performance.now() + freezingMs
	for (;;) {
		const [births] = await birthsInLane(pool, rangeOf(turn))
		if (!births?.may_send || (births.is_frozen && !births.has_pages)) turn.hasPages = false
		// Another worker may hold the page, so this does not ask again at once.
		await wait(turn.hasPages ? lookMs : 0, stopping)
		if (!turn.hasPages || births!.has_pages) return null
		if (stopping.aborted || performance.now() > endsAt)
			return rest(1, freezingMs, 'the audience is being frozen')
	}
}

const rest = (left: number, waitMs: number, because: string): End => ({
	left,
	waitMs,
	because: withoutAddresses(because),
})
