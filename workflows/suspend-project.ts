import { proxyActivities, setCurrentDetails } from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { stopCampaigns, cancelQueuedMail, tellMembers } = proxyActivities<Activities>({
	taskQueue: taskQueues.core,
	startToCloseTimeout: '1 hour',
	heartbeatTimeout: '6 seconds',
	retry: { maximumInterval: '1 minute' },
})

/**
 * A project was suspended, and hands nothing over any more. What waits is cancelled, and its members
 * are told. Its automations end by themselves, at their next step.
 */
export async function suspendProject(key: {
	projectId: string
	suspensionId: string
}): Promise<string> {
	const campaigns = await stopCampaigns(key)
	setCurrentDetails(`${campaigns} campaigns cancelled, waiting mail is next`)
	const mails = await cancelQueuedMail(key)
	await tellMembers(key)
	return `${campaigns} campaigns and ${mails} waiting mails are cancelled, the members are told`
}
