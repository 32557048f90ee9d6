import {
	condition,
	continueAsNew,
	defineSignal,
	proxyActivities,
	setCurrentDetails,
	setHandler,
	workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { untiring } from './retry.ts'
import { taskQueues } from './task-queues.ts'

/** Sent by the relay once deliveries are due, and by changes of the endpoint. */
export const eventsArrived = defineSignal<[unknown]>('eventsArrived')

const { deliverWebhooks } = proxyActivities<Activities>({
	taskQueue: taskQueues.webhooks,
	startToCloseTimeout: '5 minutes',
	heartbeatTimeout: '6 seconds',
	retry: untiring,
})

/**
 * Delivers the events of one endpoint: turn by turn, with a sleep until the next retry. It ends when nothing waits,
 * and the next event starts it again.
 */
export async function webhooks(key: { projectId: string; endpointId: string }): Promise<string> {
	let isCalled = false
	setHandler(eventsArrived, () => {
		isCalled = true
	})
	while (!workflowInfo().continueAsNewSuggested) {
		isCalled = false
		const { waitMs, said } = await deliverWebhooks(key)
		if (isCalled || waitMs === 0) continue
		if (waitMs === null) return said
		setCurrentDetails(`${said}, next ${new Date(Date.now() + waitMs).toISOString()}`)
		await condition(() => isCalled, waitMs)
	}
	return continueAsNew<typeof webhooks>(key)
}
