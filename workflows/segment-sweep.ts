import {
	continueAsNew,
	proxyActivities,
	setCurrentDetails,
	workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { sweepSegments } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '30 minutes',
	scheduleToCloseTimeout: '1 hour',
	heartbeatTimeout: '6 seconds',
})

interface Sums {
	computed: number
	failed: number
	added: number
	removed: number
}

/** Updates all tracked segments that are due, page by page. */
export async function segmentSweep(sums: Partial<Sums> = {}): Promise<string> {
	let { computed = 0, failed = 0, added = 0, removed = 0 } = sums
	while (!workflowInfo().continueAsNewSuggested) {
		const page = await sweepSegments()
		computed += page.computed
		failed += page.failed
		added += page.added
		removed += page.removed
		const said = `${computed} segments computed, ${added} entries, ${removed} exits, ${failed} failed`
		if (page.isLast) return said
		setCurrentDetails(said)
	}
	return continueAsNew<typeof segmentSweep>({ computed, failed, added, removed })
}
