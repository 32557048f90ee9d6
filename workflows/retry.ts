/**
 * For work whose progress is in the database: a retry repeats nothing, so retries may be quick and never
 * give up.
 */
export const untiring = {
	initialInterval: '200 milliseconds',
	backoffCoefficient: 2,
	maximumInterval: '10 seconds',
} as const
