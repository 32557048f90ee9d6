import { pause } from '../../db/campaigns/campaign-actions.ts'
import { campaignLane } from '../../db/campaigns/campaign-ledger.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { deliver, type DeliveryServices, type Rest } from '../delivery/delivery.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { createCampaignContents } from './campaign-contents.ts'
import { enterShare, extraTurnMs, isExtra } from './campaign-shares.ts'
import { campaignSource } from './campaign-source.ts'
import { createShared, createTurn, type Lane } from './campaign-turn.ts'

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
				const turn = createTurn(services, lane, campaign, texts, shared)
				const leave = enterShare(turn)
				let wasExtra = false
				const rest = await deliver(services, campaignSource(turn)).finally(() => {
					wasExtra = isExtra(turn)
					leave()
				})
				if (texts.isTooSlow()) {
					const taskQueue = taskQueues.core
					await pause(services.pool, {
						projectId,
						campaignId,
						taskQueue,
						reason: 'TEMPLATE',
					})
					contents.forget(lane)
				}
				// Its workflow would give up a lane that settles nothing at all.
				if (wasExtra && rest.settled === 0 && rest.left > 0)
					return { ...rest, waitMs: Math.max(rest.waitMs, extraTurnMs) }
				return rest
			}),
	}
}
