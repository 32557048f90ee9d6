import { automationActivities } from './automations.ts'
import { bulkActivities } from './bulk-jobs.ts'
import { campaignActivities } from './campaigns.ts'
import { deliveryActivities } from './deliveries.ts'
import { importActivities } from './imports.ts'
import { projectActivities } from './projects.ts'
import { segmentActivities } from './segments.ts'

export type Activities = ReturnType<typeof createActivities>

export const createActivities = (services: Parameters<typeof deliveryActivities>[0]) => ({
	...automationActivities(services),
	...bulkActivities(services),
	...campaignActivities(services),
	...deliveryActivities(services),
	...importActivities(services),
	...projectActivities(services),
	...segmentActivities(services),
})
