import {
	continueAsNew,
	proxyActivities,
	setCurrentDetails,
	sleep,
	workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

const { endProjectRuns, removeProjectRows } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '30 minutes',
	heartbeatTimeout: '6 seconds',
	retry: { initialInterval: '200 milliseconds', maximumInterval: '30 seconds' },
})

interface Removal {
	projectId: string
	removed?: number
}

/**
 * Ends everything a deleted or reset project has under way and deletes its rows, page by page. The API no
 * longer shows these rows.
 */
export async function deleteProject({ projectId, removed = 0 }: Removal): Promise<string> {
	while (!workflowInfo().continueAsNewSuggested) {
		const open = await endProjectRuns(projectId)
		if (open > 0) {
			setCurrentDetails(`**${open}** runs of its workflows are being ended`)
			await sleep('5 seconds', { summary: 'runs are being ended' })
			continue
		}
		const page = await removeProjectRows(projectId)
		removed += page.removed
		if (page.isLast) return `${removed} rows are removed`
		setCurrentDetails(`**${removed}** rows are removed so far`)
		if (!page.waitMs) continue
		setCurrentDetails(`**${removed}** rows are removed; providers are being notified`)
		await sleep(page.waitMs, { summary: 'providers are being notified' })
	}
	return continueAsNew<typeof deleteProject>({ projectId, removed })
}
