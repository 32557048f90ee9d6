import type { CampaignKey } from '../../db/campaigns/campaign-actions.ts'
import type { CampaignLane, ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import type { Ended } from '../../db/emails/ledger.ts'
import type { DeliveryServices } from '../delivery/delivery.ts'
import { createQueues } from '../../db/queues.ts'
import { createSinglePlaces } from '../delivery/gate.ts'
import { createRecords } from '../delivery/recorder.ts'
import { createUnderWay } from '../delivery/under-way.ts'
import type { CampaignTexts } from './campaign-contents.ts'
import { createMemory } from './campaign-memory.ts'
import { createLimiter } from './campaign-queues.ts'
import { createCampaignSlots } from './campaign-slots.ts'

export interface Lane extends CampaignKey {
	lane: number
}

/** Batches that are claimed and not recorded yet: one that waits behind others could still be cancelled. */
const mostBatches = 4
const mostBytes = 64 * 2 ** 20

export type Shared = ReturnType<typeof createShared>

/** Shared by all lanes of a process. */
export function createShared({ pool, provider, gate }: DeliveryServices) {
	const slots = createCampaignSlots(provider.concurrency, gate.isInUse)
	return {
		/** Lanes whose open mails this process has taken over: any open mails are being handed over, or are found at the end. */
		adopted: new Set<string>(),
		inSequence: createQueues(Infinity),
		limited: createLimiter(provider.concurrency),
		batches: createSinglePlaces(mostBatches),
		memory: createMemory(mostBytes),
		slots,
		record: createRecords(pool, slots.slice),
	}
}

export type Turn = ReturnType<typeof createTurn>

/** One turn of a lane: it sends for a while, then makes way for others. */
export const createTurn = (
	services: DeliveryServices,
	lane: Lane,
	campaign: CampaignLane,
	texts: CampaignTexts,
	shared: Shared,
) => ({
	services,
	lane,
	campaign,
	texts,
	shared,
	underWay: createUnderWay<ClaimedMail>(services.inHand),
	/** Takes back the mails that are in hand and have not left. The turn ends then. */
	withdrawal: new AbortController(),
	/** Whether the provider takes campaign mails in batches. */
	usesBatches: services.provider.deliverBatch !== undefined,
	/** Batches that a lost worker may have handed over, with the time of their last change. */
	lostBatches: [] as [batchId: string, writtenAt: Date][],
	/** The contact of the last mail that was claimed for another try. */
	cursor: campaign.after,
	/** Whether contacts of the lane may still wait for their mails to be born. */
	hasPages: true,
	/** Whether this turn has read all mails of the lane, to find those that a lost worker had in hand. */
	hasReadAll: false,
	/** Whether the last claim showed that no more mails are ready. */
	isAtEnd: false,
	/** Mails with reserved send rate that are not claimed yet. */
	paid: 0,
	settled: 0,
	/** Mails that are not settled. Until the turn has looked at the whole lane, it assumes that there is one. */
	left: 1,
})

export function countSettled(turn: Turn, ended: Ended[]) {
	for (const { end } of ended) if (end.status !== 'PENDING') turn.settled += 1
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
