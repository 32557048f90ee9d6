import { ApiError } from '../errors.ts'
import { createRoom } from '../requests/room.ts'

interface Turns {
	/** How many are at work at the same time. */
	atOnce: number
	/** How many more may wait, and for how long. */
	waiting: number
	patienceMs: number
}

/**
 * Work that holds a connection to the database while somebody outside is asked goes a few at a time:
 * however slow they are and however many come at once, the other connections are everybody else's. Whose
 * turn does not come soon is sent away with 503, for those who come again by themselves.
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
	new ApiError(503, 'EXTERNAL_SERVICE_ERROR', 'Others are still waiting for the payment provider', {
		retryAfterSeconds: 30,
		suggestion: 'Nothing was done. Send it again in a moment.',
	})
