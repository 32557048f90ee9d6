import {
	continueAsNew,
	defineSignal,
	proxyActivities,
	setCurrentDetails,
	setHandler,
	workflowInfo,
} from '@temporalio/workflow'
import type { Closing } from '../activities/automations/closing.ts'
import type { Activities } from '../activities/index.ts'
import { taskQueues } from './task-queues.ts'

/** More executions have ended, perhaps since the last page was read. */
const moreEnded = defineSignal('moreEnded')

const { closeRuns } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '1 minute',
	heartbeatTimeout: '6 seconds',
	retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
})

interface Closings {
	projectId: string
	closed?: number
}

/** Closes the Temporal runs of executions that have ended in the database, at a steady pace. */
export async function closeExecutions({ projectId, closed = 0 }: Closings): Promise<string> {
	let words = 0
	setHandler(moreEnded, () => {
		words += 1
	})
	while (!workflowInfo().continueAsNewSuggested) {
		const heard = words
		const page = (await closeRuns({ projectId })) as Closing | number
		// A worker of an older release returns once, with the number of closed runs.
		if (typeof page === 'number') return `${page} runs are closed`
		closed += page.closed
		if (page.isLast && words === heard) return `${closed} runs are closed`
		setCurrentDetails(`**${closed}** runs are closed so far`)
	}
	return continueAsNew<typeof closeExecutions>({ projectId, closed })
}
