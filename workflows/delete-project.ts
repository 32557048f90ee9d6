import {
	continueAsNew,
	proxyActivities,
	setCurrentDetails,
	workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { removeProjectRows } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '5 minutes',
	heartbeatTimeout: '6 seconds',
	retry: { initialInterval: '200 milliseconds', maximumInterval: '30 seconds' },
})

interface Removal {
	projectId: string
	removed?: number
}

/** Takes away, page by page, the rows of a project that was deleted, or reset: nobody reaches them any more. */
export async function deleteProject({ projectId, removed = 0 }: Removal): Promise<string> {
	while (!workflowInfo().continueAsNewSuggested) {
		const page = await removeProjectRows(projectId)
		removed += page.removed
		if (page.isLast) return `${removed} rows are removed`
		setCurrentDetails(`**${removed}** rows are removed so far`)
	}
	return continueAsNew<typeof deleteProject>({ projectId, removed })
}
