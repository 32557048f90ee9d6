import { ApiError } from '../errors.ts'

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
export function createTurns({ atOnce, waiting, patienceMs }: Turns) {
	let atWork = 0
	const queue = new Set<() => void>()

	async function turn() {
		if (atWork < atOnce) return void atWork++
		if (queue.size >= waiting) throw tooMany()
		await new Promise<void>((resolve, reject) => {
			const leave = setTimeout(() => {
				queue.delete(come)
				reject(tooMany())
			}, patienceMs)
			const come = () => {
				clearTimeout(leave)
				resolve()
			}
			queue.add(come)
		})
	}

	/** To the next in the queue goes the place itself: nobody can take it in between. */
	function leave() {
		const [next] = queue
		if (!next) return void atWork--
		queue.delete(next)
		next()
	}

	return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
		await turn()
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
