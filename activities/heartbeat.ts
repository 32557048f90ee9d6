import { Context } from '@temporalio/activity'

const heartbeatMs = 1500

/** Sends heartbeats to Temporal, so that it soon notices if this worker dies. */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
	const { heartbeat } = Context.current()
	const timer = setInterval(heartbeat, heartbeatMs)
	try {
		return await work()
	} finally {
		clearInterval(timer)
	}
}
