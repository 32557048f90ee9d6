import { ApiError } from '../errors.ts'
import { createRoom } from '../requests/room.ts'

interface Turns {
	/** How many run at the same time. */
	atOnce: number
	/** How many more may wait, and for how long. */
	waiting: number
	patienceMs: number
}

/**
 * Limits work that holds a database connection during a call to another service. However slow that
 * service is, the other connections stay free. Work that waits too long for its turn is refused
 * with 503, because its callers retry by themselves.
 */
export function createTurns({ atOnce, ...limits }: Turns) {
	const take = createRoom({ size: atOnce, ...limits }, tooMany)

	return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
		const leave = await take(1)
		try {
			return await work()
		} finally {
			leave()
		}
	}
}

const tooMany = () =>
	new ApiError(
		503,
		'EXTERNAL_SERVICE_ERROR',
		'Too many requests are waiting for the payment provider',
		{
			retryAfterSeconds: 30,
			suggestion: 'Nothing was done. Send it again in a moment.',
		},
	)
