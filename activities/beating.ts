import { Context } from '@temporalio/activity'

const heartbeatMs = 1500

/** Tells Temporal every now and then that this worker lives, so that a dead one is noticed soon. */
export async function beating<T>(work: () => Promise<T>): Promise<T> {
	const { heartbeat } = Context.current()
	const timer = setInterval(heartbeat, heartbeatMs)
	try {
		return await work()
	} finally {
		clearInterval(timer)
	}
}
