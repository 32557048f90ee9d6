import { proxyActivities } from '@temporalio/workflow'
import type { Cancelling } from '../activities/automations/cancelling.ts'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { cancelExecutionsOf } = proxyActivities<Activities>({
	taskQueue: taskQueues.core,
	startToCloseTimeout: '1 hour',
	heartbeatTimeout: '6 seconds',
	retry: { maximumInterval: '1 minute' },
})

/** Cancels the active executions of disabled automations. `closeExecutions` closes their runs. */
export async function cancelExecutions(of: Cancelling): Promise<string> {
	return `${await cancelExecutionsOf(of)} executions are cancelled`
}
