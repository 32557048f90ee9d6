import {
	continueAsNew,
	proxyActivities,
	setCurrentDetails,
	sleep,
	workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { untiring } from './retry.ts'
import { taskQueues } from './task-queues.ts'

const { deliverClaim } = proxyActivities<Activities>({
	taskQueue: taskQueues.email,
	startToCloseTimeout: '30 minutes',
	heartbeatTimeout: '6 seconds',
	retry: untiring,
})

/**
 * Delivers the mails of one `/v1/send` request, or of several that waited together. It runs until every
 * mail is settled, through refusals, outages and doubt, within the time limits for retries.
 */
export async function send({ claimId }: { claimId: string }): Promise<string> {
	let total = 0
	while (!workflowInfo().continueAsNewSuggested) {
		const { settled, left, waitMs, because } = await deliverClaim(claimId)
		total += settled
		if (left === 0) return `${total} ${total === 1 ? 'mail is' : 'mails are'} settled`
		if (waitMs === 0) continue
		const until = new Date(Date.now() + waitMs).toISOString()
		setCurrentDetails(
			`**${left}** ${left === 1 ? 'mail waits' : 'mails wait'} until ${until}: ${because}`,
		)
		await sleep(waitMs, { summary: because.slice(0, 100) })
	}
	return continueAsNew<typeof send>({ claimId })
}
