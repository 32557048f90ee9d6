import {
	ActivityFailure,
	ApplicationFailure,
	CancellationScope,
	condition,
	continueAsNew,
	defineSignal,
	isCancellation,
	proxyActivities,
	proxyLocalActivities,
	setCurrentDetails,
	setHandler,
	sleep,
	upsertSearchAttributes,
	workflowInfo,
} from '@temporalio/workflow'
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common'
import type { Activities } from '../activities/index.ts'
import { untiring } from './retry.ts'
import { taskQueues } from './task-queues.ts'

interface ExecutionKey {
	projectId: string
	executionId: string
}

/**
 * The event that the execution waits for at this visit has arrived. A late or repeated signal has no
 * effect.
 */
const eventArrived = defineSignal<[{ visit: number }]>('eventArrived')

const { advanceExecution, failExecution, cancelExecution } = proxyLocalActivities<Activities>({
	startToCloseTimeout: '20 seconds',
	retry: untiring,
})
/** Waits in Temporal's queue, which is fair between projects, and needs no workflow task there. */
const { advanceInTurn } = proxyActivities<Activities>({
	taskQueue: taskQueues.moves,
	startToCloseTimeout: '30 seconds',
	retry: untiring,
})
const { performStep } = proxyActivities<Activities>({
	taskQueue: taskQueues.calls,
	startToCloseTimeout: '1 minute',
	retry: { maximumInterval: '1 minute' },
})

/**
 * Walks one contact through one automation, from stop to stop, until it ends. The run keeps only the
 * number of the visit whose time is over. A run that is started again continues from the database's state.
 */
export async function automation(key: ExecutionKey): Promise<string> {
	const arrived = new Set<number>()
	setHandler(eventArrived, ({ visit }) => void arrived.add(visit))
	try {
		for (let done = 0; ;) {
			const soon = await advanceExecution(key, done)
			const stop = soon.do === 'QUEUE' ? await advanceInTurn(key, done) : soon
			setCurrentDetails(stop.about)
			if (stop.do === 'END' && stop.failed)
				throw ApplicationFailure.nonRetryable(stop.failed, 'ExecutionFailed')
			if (stop.do === 'END') return stop.about
			if (workflowInfo().continueAsNewSuggested) break
			if (stop.isShown) show(stop)
			if (stop.do === 'CALL') await performStep(key, stop.visit)
			else if (stop.do === 'SLEEP') await sleep(stop.ms, { summary: stop.about })
			else if (stop.ms === null) await condition(() => arrived.has(stop.visit))
			else await condition(() => arrived.has(stop.visit), stop.ms, { summary: stop.about })
			done = stop.visit
		}
	} catch (error) {
		await CancellationScope.nonCancellable(() => end(key, error))
		throw error
	}
	return continueAsNew<typeof automation>(key)
}

const currentStep = defineSearchAttributeKey('CurrentStep', SearchAttributeType.KEYWORD)
const waitingSince = defineSearchAttributeKey('WaitingSince', SearchAttributeType.DATETIME)

/** Needs no result, so it shares the workflow task with the wait that follows. */
function show({ stepId, since }: { stepId: string; since: string | Date }) {
	upsertSearchAttributes([
		{ key: currentStep, value: stepId },
		{ key: waitingSince, value: new Date(since) },
	])
}

/** An operator's cancellation, or work that can never succeed, ends the execution along with the run. */
async function end(key: ExecutionKey, error: unknown) {
	if (isCancellation(error)) await cancelExecution(key, 'Cancelled in Temporal')
	else if (error instanceof ActivityFailure)
		await failExecution(key, error.cause?.message ?? error.message)
}
