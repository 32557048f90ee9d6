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
import type { Rest } from '../activities/delivery/delivery.ts'
import type { Activities } from '../activities/index.ts'
import { untiring } from './retry.ts'
import { emailQueueOf, taskQueues } from './task-queues.ts'

const { deliverClaim } = proxyActivities<Activities>({
	taskQueue: taskQueues.email,
	startToCloseTimeout: '30 minutes',
	heartbeatTimeout: '6 seconds',
	retry: untiring,
})

/** It needs no task of its own in Temporal. */
const { deliverClaimAtOnce } = proxyLocalActivities<Activities>({
	startToCloseTimeout: '1 minute',
	retry: { maximumAttempts: 1 },
})
const oneWorker = (worker: string) =>
	proxyActivities<Activities>({
		taskQueue: emailQueueOf(worker),
		startToCloseTimeout: '30 minutes',
		heartbeatTimeout: '6 seconds',
		// It may have ended. One that is stopping asks for no more work, but may be finishing these mails.
		scheduleToStartTimeout: '45 seconds',
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

/** Null: it could not be done. `deliverClaim` tries again, where operators can see it. */
async function firstPass(claimId: string): Promise<Rest | null> {
	try {
		const rest = await deliverClaimAtOnce(claimId)
		return rest?.worker ? await oneWorker(rest.worker).deliverClaim(claimId) : rest
	} catch (error) {
		if (error instanceof TemporalFailure && !isCancellation(error)) return null
		throw error
	}
}
