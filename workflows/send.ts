import {
	continueAsNew,
	isCancellation,
	patched,
	proxyActivities,
	proxyLocalActivities,
	setCurrentDetails,
	sleep,
	TemporalFailure,
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

/** It needs no task of its own in Temporal. If it fails, `deliverClaim` does, where operators can see it. */
const { deliverClaimAtOnce } = proxyLocalActivities<Activities>({
	startToCloseTimeout: '30 minutes',
	retry: { maximumAttempts: 1 },
})

/**
 * Delivers the mails of one `/v1/send` request, or of several that waited together. It runs until every
 * mail is settled, through refusals, outages and doubt, within the time limits for retries.
 */
export async function send({ claimId }: { claimId: string }): Promise<string> {
	let total = 0
	let first = patched('first-pass-at-once') ? await firstPass(claimId) : null
	while (!workflowInfo().continueAsNewSuggested) {
		const { settled, left, waitMs, because } = first ?? (await deliverClaim(claimId))
		first = null
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

async function firstPass(claimId: string) {
	try {
		return await deliverClaimAtOnce(claimId)
	} catch (error) {
		if (error instanceof TemporalFailure && !isCancellation(error)) return null
		throw error
	}
}
