import { deliveryActivities } from './deliveries.ts'

export type Activities = ReturnType<typeof createActivities>

export const createActivities = (services: Parameters<typeof deliveryActivities>[0]) => ({
	...deliveryActivities(services),
})
