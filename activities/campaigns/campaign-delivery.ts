import { pause } from '../../db/campaigns/campaign-actions.ts'
import { campaignLane } from '../../db/campaigns/campaign-ledger.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { deliver, type DeliveryServices, type Rest } from '../delivery/delivery.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { createCampaignContents } from './campaign-contents.ts'
import { campaignSource } from './campaign-source.ts'
import { createShared, createTurn, type Lane } from './campaign-turn.ts'
import { watchForWithdrawal } from './campaign-withdrawal.ts'

export interface LaneRest extends Rest {
	/** Live workers, which share the lanes. */
	workers?: string[]
}

export function campaignDeliveryActivities(services: DeliveryServices) {
	const contents = createCampaignContents(services.settings)
	const shared = createShared(services)

	return {
		/**
		 * Sends the mails of a lane for a while. Mails that are paused, cancelled or not due stay as they are.
		 * The ledger records what is done, so a second run repeats nothing, even beside a lost first run.
		 */
		sendCampaignPages: (lane: Lane): Promise<LaneRest> =>
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
				const endWatch = watchForWithdrawal(turn)
				const rest = await deliver(services, campaignSource(turn)).finally(endWatch)
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
				return { ...rest, workers: campaign.workers }
			}),
	}
}
