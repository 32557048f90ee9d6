import { MockActivityEnvironment } from '@temporalio/testing'
import type { Pool } from 'pg'
import { campaignDeliveryActivities } from '../../activities/campaigns/campaign-delivery.ts'
import { deliverMails } from '../../activities/delivery/claim-source.ts'
import type { DeliveryServices, Rest } from '../../activities/delivery/delivery.ts'
import type { Provider } from '../../outside/providers/provider.ts'
import { mailsOfClaim } from '../../db/emails/ledger.ts'
import { claim, claimOf, deliveryServices } from './ledger.ts'

/** A worker that sends lanes of campaigns. Several workers share only the ledger. */
export function campaignWorker(
	pool: Pool,
	provider: Provider,
	settings: Partial<DeliveryServices['settings']> = {},
) {
	const { services, stop } = deliveryServices(pool, provider, settings)
	const { sendCampaignPages } = campaignDeliveryActivities(services)
	return {
		/** Does the work of the run of single mails that waits in the outbox. */
		deliver: async () => {
			const claimId = claimOf((await claim(pool))[0])
			return deliverMails(services, () =>
				mailsOfClaim(pool, { claimId, provider: services.provider.name }),
			)
		},
		stop,
		/** Turns follow each other as in the workflow: a slow machine needs several. */
		async send(projectId: string, campaignId: string, lane = 0): Promise<Rest> {
			let settled = 0
			for (;;) {
				const turn = { projectId, campaignId, lane }
				const rest: Rest = await new MockActivityEnvironment().run(sendCampaignPages, turn)
				settled += rest.settled
				const isOver = rest.because !== 'another turn continues' || services.stopping.aborted
				if (isOver) return { ...rest, settled }
			}
		},
	}
}
