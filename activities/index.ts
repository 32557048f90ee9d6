import type { Pool } from 'pg'
import { automationActivities } from './automations/automations.ts'
import { billingActivities } from './billing/billing.ts'
import { bulkActivities } from './bulk-jobs.ts'
import { campaignDeliveryActivities } from './campaigns/campaign-delivery.ts'
import { campaignActivities } from './campaigns/campaigns.ts'
import { deliveryActivities } from './delivery/deliveries.ts'
import { providerEventActivities } from './delivery/provider-events.ts'
import { domainActivities } from './domains.ts'
import { housekeepingActivities } from './housekeeping.ts'
import { importActivities } from './imports/imports.ts'
import { projectActivities } from './projects.ts'
import { segmentActivities } from './segments.ts'
import { suspensionActivities } from './suspensions.ts'
import { replayActivities } from './webhooks/replays.ts'
import { webhookActivities } from './webhooks/webhooks.ts'

export type Activities = ReturnType<typeof createActivities>

export const createActivities = (
	services: Parameters<typeof automationActivities>[0] &
		Parameters<typeof billingActivities>[0] &
		Parameters<typeof deliveryActivities>[0] &
		Parameters<typeof domainActivities>[0] &
		Parameters<typeof housekeepingActivities>[0] &
		Parameters<typeof suspensionActivities>[0] &
		Parameters<typeof webhookActivities>[0] & { webhookPool: Pool; automationPool: Pool },
) => ({
	...automationActivities({ ...services, pool: services.automationPool }),
	...billingActivities(services),
	...bulkActivities(services),
	...campaignActivities(services),
	...campaignDeliveryActivities(services),
	...deliveryActivities(services),
	...domainActivities(services),
	...housekeepingActivities(services),
	...importActivities(services),
	...projectActivities(services),
	...providerEventActivities(services),
	...replayActivities(services),
	...segmentActivities(services),
	...suspensionActivities(services),
	...webhookActivities({ ...services, pool: services.webhookPool }),
})
