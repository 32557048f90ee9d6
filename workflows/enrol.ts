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
	startToCloseTimeout: '5 minutes',
	retry: untiring,
})

interface Enrolment {
	projectId: string
	automationId: string
	/** What is done; a run that has just been started by its Schedule knows none of it. */
	progress?: { scheduledFor: string; after: string | null; enrolled: number }
}

/** Begins an automation by the clock: for everybody in its segment, page by page, once a moment. */
export async function enrol({ projectId, automationId, progress }: Enrolment): Promise<string> {
	const scheduledFor = progress?.scheduledFor ?? momentOfSchedule().toISOString()
	let { after = null, enrolled = 0 } = progress ?? {}
	for (;;) {
		const page = await enrolSome({ projectId, automationId, scheduledFor, after })
		enrolled += page.enrolled
		const said = `${enrolled} ${enrolled === 1 ? 'execution' : 'executions'} begun`
		setCurrentDetails(said)
		if (page.last === null) return said
		after = page.last
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
