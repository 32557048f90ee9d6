import {
	continueAsNew,
	proxyActivities,
	setCurrentDetails,
	workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { untiring } from './retry.ts'
import { taskQueues } from './task-queues.ts'

const { enrolSome } = proxyActivities<Activities>({
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '10 minutes',
	heartbeatTimeout: '6 seconds',
	retry: untiring,
})

interface Enrolment {
	projectId: string
	automationId: string
	/** The times of the Schedule that started this run. It enrols nobody if the automation has others by now. */
	fingerprint?: string
	/** Progress of an earlier run. A run that was just started by its Schedule has none. */
	progress?: { scheduledFor: string; after: string | null; enrolled: number }
}

/**
 * Starts an automation on schedule: enrols every contact of its segment, turn by turn, once for each
 * scheduled time.
 */
export async function enrol({
	projectId,
	automationId,
	fingerprint,
	progress,
}: Enrolment): Promise<string> {
	const scheduledFor = progress?.scheduledFor ?? momentOfSchedule().toISOString()
	let { after = null, enrolled = 0 } = progress ?? {}
	for (;;) {
		const turn = await enrolSome({ projectId, automationId, fingerprint, scheduledFor, after })
		enrolled += turn.enrolled
		const said = `${enrolled} ${enrolled === 1 ? 'execution' : 'executions'} started`
		setCurrentDetails(said)
		if (turn.last === null) return said
		after = turn.last
		if (workflowInfo().continueAsNewSuggested) break
	}
	const next = { scheduledFor, after, enrolled }
	return continueAsNew<typeof enrol>({ projectId, automationId, progress: next })
}

function momentOfSchedule() {
	const { searchAttributes, startTime } = workflowInfo()
	const [moment] = (searchAttributes['TemporalScheduledStartTime'] ?? []) as Date[]
	return moment ?? startTime
}
