import { setTimeout as sleep } from 'node:timers/promises'
import type { CampaignKey } from '../../db/campaigns/campaign-actions.ts'
import type { CampaignLane, ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import type { DeliveryServices } from '../delivery/delivery.ts'
import { napMs } from '../delivery/moments.ts'
import { createUnderWay, type UnderWay } from '../delivery/under-way.ts'
import type { CampaignTexts } from './campaign-contents.ts'
import { createSequencer, createLimiter } from './campaign-queues.ts'
import { type CampaignSlots, createCampaignSlots } from './campaign-slots.ts'

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

/** A batch that a lost worker may have handed over, and when it was last written. */
export interface LostBatch {
	batchId: string
	writtenAt: Date
}

/** One turn of a lane: it sends for a while, then makes way for others. */
export interface Turn {
	services: DeliveryServices
	lane: Lane
	campaign: CampaignLane
	texts: CampaignTexts
	shared: Shared
	underWay: UnderWay<ClaimedMail>
	/** Whether the provider takes campaign mails in batches. */
	usesBatches: boolean
	/** They are repeated first. */
	lostBatches: LostBatch[]
	/** The contact of the last mail that was claimed for another try. */
	cursor: string
	/** Whether contacts of the lane may still wait for their mails to be born. */
	hasPages: boolean
	/** The last claim found fewer mails than it could have sent. */
	isAtEnd: boolean
	/** Mails with reserved send rate that are not claimed yet. */
	paid: number
	settled: number
	/** As far as this turn knows: until it has looked, it assumes that there is one. */
	left: number
}

export const createTurn = (
	services: DeliveryServices,
	lane: Lane,
	campaign: CampaignLane,
	texts: CampaignTexts,
	shared: Shared,
): Turn => ({
	services,
	lane,
	campaign,
	texts,
	shared,
	underWay: createUnderWay(services.inHand),
	usesBatches: services.provider.deliverBatch !== undefined,
	lostBatches: [],
	cursor: shared.positions.get(nameOf(lane)) ?? campaign.after,
	hasPages: true,
	isAtEnd: false,
	paid: 0,
	settled: 0,
	left: 1,
})

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
