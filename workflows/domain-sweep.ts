import {
	continueAsNew,
	proxyActivities,
	setCurrentDetails,
	workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { checkDomains, removeProviderDomain } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '20 minutes',
	heartbeatTimeout: '6 seconds',
	retry: { maximumInterval: '5 minutes' },
})

interface Sums {
	checked: number
	verified: number
	lost: number
}

/** Checks all domains that are due, page by page. */
export async function domainSweep(sums: Partial<Sums> = {}): Promise<string> {
	let { checked = 0, verified = 0, lost = 0 } = sums
	while (!workflowInfo().continueAsNewSuggested) {
		const page = await checkDomains()
		checked += page.checked
		verified += page.verified
		lost += page.lost
		const said = `${checked} domains checked, ${verified} became verified, ${lost} lost their status`
		if (page.isLast) return said
		setCurrentDetails(said)
	}
	return continueAsNew<typeof domainSweep>({ checked, verified, lost })
}

/** Removes a deleted domain at the provider. Retries until the provider confirms. */
export async function removeDomain({ providerDomainId }: { providerDomainId: string }) {
	await removeProviderDomain(providerDomainId)
}
