import { MockActivityEnvironment } from '@temporalio/testing'
import type { Pool } from 'pg'
import { campaignDeliveryActivities } from '../../activities/campaign-delivery.ts'
import { deliver, type DeliveryServices, type Rest } from '../../activities/delivery.ts'
import { createDkimKeys } from '../../activities/dkim-keys.ts'
import { createGate } from '../../activities/gate.ts'
import { createProviderPause } from '../../activities/provider-pause.ts'
import type { Provider } from '../../activities/providers/provider.ts'
import { trackingKey } from '../../activities/rendering/tracked-urls.ts'
import { mailsAmong } from '../../db/ledger.ts'
import { sealingSecret } from './ledger.ts'

/** A worker of its own that sends lanes of campaigns: several share the ledger and nothing else. */
export function campaignWorker(
	pool: Pool,
	provider: Provider,
	settings: Partial<DeliveryServices['settings']> = {},
) {
	const stopping = new AbortController()
	const services: DeliveryServices = {
		pool,
		provider,
		gate: createGate(provider.concurrency),
		pause: createProviderPause(),
		dkimKeys: createDkimKeys(pool, sealingSecret),
		stopping: stopping.signal,
		settings: {
			publicUrl: 'http://localhost:3000',
			sendRatePerSecond: 0,
			uncertainAfterMs: 600_000,
			patienceMs: 3 * 24 * 3_600_000,
			trackingKey: trackingKey(sealingSecret),
			...settings,
		},
	}
	const { sendCampaignPages } = campaignDeliveryActivities(services)
	return {
		/** As a run of single mails would. */
		deliver: (projectId: string, ids: string[]) =>
			deliver(services, () => mailsAmong(pool, [projectId, ids])),
		stop: () => stopping.abort(),
		send: (projectId: string, campaignId: string, lane = 0): Promise<Rest> =>
			new MockActivityEnvironment().run(sendCampaignPages, { projectId, campaignId, lane }),
	}
}
