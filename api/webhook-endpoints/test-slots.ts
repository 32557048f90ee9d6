import { ApiError } from '../errors.ts'

const mostPerProject = 2
const mostPerProcess = 20
const retryAfterSeconds = 1

/** Tests wait for customers’ servers, so few may be under way at a time in this process. */
export function testSlots() {
	const byProject = new Map<string, number>()
	let taken = 0

	/** Runs the test, or refuses it at once. */
	return async function inSlot<T>(projectId: string, run: () => Promise<T>): Promise<T> {
		const own = byProject.get(projectId) ?? 0
		if (own >= mostPerProject || taken >= mostPerProcess) throw tooManyTests()
		byProject.set(projectId, own + 1)
		taken += 1
		try {
			return await run()
		} finally {
			taken -= 1
			const left = byProject.get(projectId)! - 1
			if (left > 0) byProject.set(projectId, left)
			else byProject.delete(projectId)
		}
	}
}

const tooManyTests = () =>
	new ApiError(429, 'RATE_LIMIT_EXCEEDED', 'Too many tests of webhook endpoints are under way', {
		retryAfterSeconds,
		suggestion: 'Wait until an earlier test has ended, and send the request again.',
	})
