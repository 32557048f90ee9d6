import { setTimeout as sleep } from 'node:timers/promises'
import type { CampaignKey } from '../../db/campaigns/campaign-actions.ts'
import type { CampaignLane, ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import { type Ended, recordEnds } from '../../db/emails/ledger.ts'
import type { DeliveryServices } from '../delivery/delivery.ts'
import { napMs } from '../delivery/moments.ts'
import { createRecorder, type Recorder } from '../delivery/recorder.ts'
import { createUnderWay, type UnderWay } from '../delivery/under-way.ts'
import type { CampaignTexts } from './campaign-contents.ts'
import { createSequencer, createLimiter } from './campaign-queues.ts'
import { type CampaignSlots, createCampaignSlots } from './campaign-slots.ts'

/** Answers that arrive within this time are recorded together. */
const gatherMs = 20

export interface Lane extends CampaignKey {
	lane: number
}

/** Shared by all lanes of a process. */
export interface Shared {
	/** The progress in each lane. Only a hint, since each turn looks at the whole lane again. */
	positions: Map<string, string>
	inSequence: ReturnType<typeof createSequencer>
	limited: ReturnType<typeof createLimiter>
	slots: CampaignSlots
}

export const createShared = (connections: number): Shared => ({
	positions: new Map(),
	inSequence: createSequencer(),
	limited: createLimiter(connections),
	slots: createCampaignSlots(connections),
})

/** One turn of a lane: it sends for a while, then makes way for others. */
export interface Turn {
	services: DeliveryServices
	lane: Lane
	campaign: CampaignLane
	texts: CampaignTexts
	shared: Shared
	underWay: UnderWay<ClaimedMail>
	recorder: Recorder
	/** The contact of the last mail that was claimed for another try. */
	cursor: string
	/** Whether contacts of the lane may still wait for their mails to be born. */
	hasPages: boolean
	/** Mails with reserved send rate that are not claimed yet. */
	paid: number
	settled: number
}

export function createTurn(
	services: DeliveryServices,
	lane: Lane,
	campaign: CampaignLane,
	texts: CampaignTexts,
	shared: Shared,
): Turn {
	const write = (ended: Ended[]) => recordEnds(services.pool, lane.projectId, ended)
	return {
		services,
		lane,
		campaign,
		texts,
		shared,
		underWay: createUnderWay(services.inHand),
		recorder: createRecorder({ write, gatherMs, enough: shared.slots.slice }),
		cursor: shared.positions.get(nameOf(lane)) ?? campaign.after,
		hasPages: true,
		paid: 0,
		settled: 0,
	}
}

/** Identifies a lane among the lanes of all campaigns. */
export const nameOf = ({ campaignId, lane }: Lane) => `${campaignId} ${lane}`

/** The parameters of statements about the whole lane. */
export const rangeOf = ({ lane, campaign }: Turn) => ({
	projectId: lane.projectId,
	campaignId: lane.campaignId,
	after: campaign.after,
	until: campaign.until,
})

/** Returns early if the process is stopping. */
export async function wait(ms: number, stopping: AbortSignal) {
	const until = performance.now() + ms
	for (let left = ms; left > 0 && !stopping.aborted; left = until - performance.now())
		await sleep(Math.min(left, napMs))
}
