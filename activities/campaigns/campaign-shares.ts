import { lanesToShare } from '../../db/campaigns/campaign-ledger.ts'
import { rateOf } from './campaign-rate.ts'
import type { Turn } from './campaign-turn.ts'

// Workers share the lanes of a campaign. A lane stays with a worker for a turn. So that no worker is idle
// while another has several lanes, a worker with more than its share gives the others up early.

/** The lanes of a campaign that this process is sending, in the order in which it got them. */
export interface Share {
	turns: Set<Turn>
	/** So many lanes are this process's share. */
	most: number
	/** When it was last looked up. */
	askedAt: number
}

/** After this a lane makes way for another worker, if this one has more than its share of lanes. */
export const extraTurnMs = 1000
const refreshMs = 1000

/** Counts a lane while it is sent. Returns the function that ends this. */
export function enterShare(turn: Turn) {
	const { shares } = turn.shared
	const { campaignId } = turn.lane
	const share = shares.get(campaignId) ?? { turns: new Set(), most: Infinity, askedAt: -Infinity }
	shares.set(campaignId, share)
	share.turns.add(turn)
	return () => {
		share.turns.delete(turn)
		if (share.turns.size === 0) shares.delete(campaignId)
	}
}

/** Looks up how many lanes are this process's share, about once a second. */
export async function lookAtShare({ services, lane, shared, campaign }: Turn) {
	const share = shared.shares.get(lane.campaignId)
	// Within a send rate a second worker would not help, and a short turn might settle nothing.
	if (!share || rateOf(services, campaign) > 0) return
	if (share.turns.size < 2 || performance.now() - share.askedAt < refreshMs) return
	share.askedAt = performance.now()
	const { projectId, campaignId } = lane
	const [found] = await lanesToShare(services.pool, { projectId, campaignId })
	if (found) share.most = Math.max(1, Math.ceil(found.lanes / Math.max(1, found.workers)))
}

/** Whether this lane is beyond the process's share, so that another worker may take it. */
export function isExtra(turn: Turn) {
	const share = turn.shared.shares.get(turn.lane.campaignId)
	return share !== undefined && [...share.turns].indexOf(turn) >= share.most
}
