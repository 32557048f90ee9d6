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
 * A suspended project hands no mail over. This cancels its waiting mails and notifies its members. Its
 * automations end by themselves, at their next step.
 */
export async function suspendProject(key: {
	projectId: string
	suspensionId: string
}): Promise<string> {
	const campaigns = await stopCampaigns(key)
	setCurrentDetails(`${campaigns} campaigns cancelled, waiting mail is next`)
	const mails = await cancelQueuedMail(key)
	await tellMembers(key)
	return `${campaigns} campaigns and ${mails} waiting mails are cancelled, the members are being notified`
}
