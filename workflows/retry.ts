/**
 * For work that knows by the database how far it has come: its next try repeats nothing, so it may come
 * at once, and for ever.
 */
export const untiring = {
	initialInterval: '200 milliseconds',
	backoffCoefficient: 2,
	maximumInterval: '10 seconds',
} as const
